import { deepResearch } from "../../../src/reward/rewards/deep-research.js";
import { judgedTrajectory, type JudgedTrajectory } from "../../../src/reward/judged-trajectory.js";
import type { Tool } from "../../../src/tools/tool.js";
import { ToolSet } from "../../../src/tools/tool-set.js";
import { agree, ask } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** Paths that a model may ask a tool for, whether they lie in /data/work, and what to say otherwise. */
const guarded: [path: string, allowed: boolean, off: string][] = [
  ["notes.txt", true, "A file of the folder may be read."],
  ["../secret.txt", false, "It leads out of the folder."],
  ["/etc/passwd", false, "It begins at the root, not in the folder."],
  ["a/../b.txt", true, "It leaves a folder inside the folder and stays in it."],
  ["a/../../secret.txt", false, "Count the steps up: it ends outside."],
  ["/data/work/a.txt", true, "It begins at the root, and ends in the folder."],
  [
    "../workshop/a.txt",
    false,
    "/data/workshop begins with the same letters, and is another folder.",
  ],
];

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
  "12 guard": rule<(folder: string, path: string) => boolean>({
    hint: "`resolve(folder, path)` of node:path gives the place that a path leads to. When does that place lie in the folder?",
    check: (given) => {
      for (const [path, allowed, off] of guarded) {
        const found = ask(given, "/data/work", path);
        if (found === allowed) continue;
        return wrong(`for the path ${JSON.stringify(path)} it gives ${String(found)}. ${off}`);
      }
      return right(
        "a model tries everything, so the tool must refuse before anything is read. A reward only acts afterwards.",
      );
    },
  }),
};
