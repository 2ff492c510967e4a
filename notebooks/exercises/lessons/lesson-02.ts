import { checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

export interface Stretch {
  kind: "model" | "tool";
  tokens: number;
}

/** An agent and its tools. */
export const lesson02 = {
  "02 content": rule<string>({
    hint: "look from the end: the last closing tag, and the last opening tag before it.",
    check: (given) =>
      checkValue(given, "2 + 2", {
        because: "what stands between the last two tags; the first call was answered long ago.",
        off: (text) => {
          if (text.includes("<")) return "the tags themselves are not part of it.";
          if (text === "1") return "that is the first call: it was answered before.";
          return text.trim() === "2 + 2" ? "white space at the ends is cut off." : undefined;
        },
      }),
  }),
  "02 mask": rule<(stretches: Stretch[]) => number[]>({
    hint: "flatMap over the stretches, with new Array(tokens).fill(1 or 0) for each.",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[{ kind: "model", tokens: 2 }]], [1, 1]],
          [
            [
              [
                { kind: "model", tokens: 2 },
                { kind: "tool", tokens: 3 },
                { kind: "model", tokens: 1 },
              ],
            ],
            [1, 1, 0, 0, 0, 1],
          ],
          [[[]], []],
        ],
        {
          because:
            "and multiplied with a loss per token, it leaves only what the model is to blame for.",
          off: (_, found, wanted) =>
            found.length !== wanted.length
              ? `There must be one number per token, ${wanted.length} in all.`
              : undefined,
        },
      ),
  }),
  "02 outage": rule<"punish" | "set aside" | "reward">({
    hint: "ask whose fault it was, and what the model would learn from each.",
    check: (given) => {
      if (given === "set aside")
        return right(
          "the trajectory says nothing about how well the model searches. The library reports such trajectories (`diagnose`) and counts the failed calls; leaving them out is your decision to make.",
        );
      return given === "punish"
        ? wrong("the model would learn that searching is useless, from an outage it did not cause.")
        : wrong("the model would learn to search and then guess, whatever it reads.");
    },
  }),
};
