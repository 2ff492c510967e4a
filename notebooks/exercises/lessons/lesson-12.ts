import { deepResearch } from "../../../src/reward/deep-research.js";
import { judgedTrajectory, type JudgedTrajectory } from "../../../src/reward/judged-trajectory.js";
import type { Tool } from "../../../src/tools/tool.js";
import { ToolSet } from "../../../src/tools/tool-set.js";
import { agree, ask } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** How to let an agent delete files. */
export type Design =
  | "ask the model to be careful"
  | "a copy of the folder per call"
  | "take away 1 from the reward per deleted file";

const judged = (answer: string, length: number): JudgedTrajectory =>
  judgedTrajectory({
    response: answer === "" ? "?" : `<think>t</think><answer>\\boxed{${answer}}</answer>`,
    groundTruth: "Oslo",
    length,
  });

const shortCases: { what: string; of: JudgedTrajectory; wanted: number }[] = [
  { what: "a right answer of 20 tokens", of: judged("Oslo", 20), wanted: 1 },
  { what: "a right answer of 50 tokens", of: judged("Oslo", 50), wanted: 0.9 },
  { what: "a right answer of 149 tokens", of: judged("Oslo", 149), wanted: 0.8 },
  { what: "a wrong answer of 120 tokens", of: judged("Rome", 120), wanted: 0 },
  { what: "a broken answer of 120 tokens", of: judged("", 120), wanted: -1 },
];

/** Tools and rewards of one's own. */
export const lesson12 = {
  "12 tool": rule<Tool>({
    hint: '{ name, tag: "reverse", description, execute: (input) => … }; [...text].reverse().join("") turns a text.',
    check: async (tool) => {
      if (tool.tag !== "reverse") return wrong(`its tag is ${tool.tag}; it should be reverse.`);
      const tools = new ToolSet([tool], { retryCount: 1, timeoutMs: 5000 });
      for (const [input, wanted] of [
        ["abc", "cba"],
        ["tool 1", "1 loot"],
        ["", "Nothing to reverse."],
      ] as const) {
        const { ok, text, failure } = await tools.call("reverse", input);
        if (!ok) {
          return wrong(
            `for ${JSON.stringify(input)} the call fails (${failure?.message ?? "no reason"}): an empty answer is a failure.`,
          );
        }
        if (text !== wanted)
          return wrong(
            `for ${JSON.stringify(input)} it says ${JSON.stringify(text)}, not "${wanted}".`,
          );
      }
      return right("a model can use it at once: any text that ends in </reverse> calls it.");
    },
  }),
  "12 short answers": rule<(judged: JudgedTrajectory) => number>({
    hint: "deepResearch(judged).score, and Math.floor(judged.length / 50) tenths less where it is above 0.",
    check: (given) => {
      for (const { what, of, wanted } of shortCases) {
        const found = ask(given, of);
        if (agree(found, wanted)) continue;
        const { score } = deepResearch(of);
        const off = agree(found, score - of.length / 500)
          ? " Only full fifties count: Math.floor."
          : score <= 0 && found < score
            ? " Where nothing was earned, nothing is taken off: or the model learns that silence is cheapest."
            : "";
        return wrong(
          `for ${what} it gives ${Number(found.toFixed(4))}, but should give ${wanted}.${off}`,
        );
      }
      return right(
        "watch the lengths in training: such a reward shortens thinking as gladly as chatter.",
      );
    },
  }),
  "12 safety": rule<Design>({
    hint: "what happens the first time, before anything has been learnt?",
    check: (given) => {
      if (given === "a copy of the folder per call")
        return right(
          "what a model is trying out must not be able to do harm; a reward only acts afterwards.",
        );
      return given === "ask the model to be careful"
        ? wrong("training rewards what works, not what was asked; and it tries everything.")
        : wrong("the files are gone by then. A reward teaches; it does not protect.");
    },
  }),
};
