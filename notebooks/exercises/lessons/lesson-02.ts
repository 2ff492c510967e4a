import type { ToolOutcome } from "../../../src/tools/tool-set.js";
import { agree, checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";

export interface Stretch {
  kind: "model" | "tool";
  tokens: number;
}

/** A trajectory with what its tools answered. */
export interface AnsweredTrajectory {
  id: number;
  score: number;
  calls: Pick<ToolOutcome, "ok" | "failure" | "text">[];
}

type Call = AnsweredTrajectory["calls"][number];
const found: Call = { ok: true, text: "Page 1: The mayor of Savia is Fileth." };
const nothing: Call = { ok: true, text: "No search results found." };
const down: Call = {
  ok: false,
  failure: { kind: "error", message: "refused" },
  text: "Error: Tool(search) execution failed.",
};
const answered = (id: number, score: number, ...calls: Call[]) => ({ id, score, calls });

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
  "02 sound": rule<(trajectories: AnsweredTrajectory[]) => number[]>({
    hint: "what do the three outcomes of a call (`ok`, `failure`, `text`) look like in the table above: for a broken tool, and for a search that finds nothing?",
    check: (given) =>
      checkFunction(
        given,
        [
          [[[answered(0, 1, found)]], [0]],
          [[[answered(0, 0, found), answered(1, 0, down), answered(2, 0, nothing)]], [0, 2]],
          [[[answered(3, 1, down, found), answered(5, 0)]], [5]],
          [[[answered(7, 1, nothing, found), answered(8, -1, found)]], [7, 8]],
        ],
        {
          because:
            "a right answer after a failed call goes too: kept alone, lucky guesses would teach the model to guess.",
          off: ([trajectories], ids) => {
            const by = (test: (one: AnsweredTrajectory) => boolean) =>
              trajectories.filter(test).map(({ id }) => id);
            const isFailed = ({ calls }: AnsweredTrajectory) => calls.some(({ ok }) => !ok);
            if (
              agree(
                ids,
                by((one) => !isFailed(one) || one.score > 0),
              )
            )
              return "A right answer after a failed call was a guess.";
            if (
              agree(
                ids,
                by(({ calls }) => calls.every(({ text }) => text === found.text)),
              )
            )
              return "Finding nothing is an answer, and an answer without calls is the model's own doing.";
            return agree(
              ids,
              by(({ score }) => score > 0),
            )
              ? "An update needs wrong answers as well, where the model is to blame for them."
              : undefined;
          },
        },
      ),
  }),
};
