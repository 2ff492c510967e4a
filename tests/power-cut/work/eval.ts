// Evaluates a scripted policy. A sample is acknowledged when it is told, the evaluation when it ends.
import { join } from "node:path";
import { evaluate } from "../../../src/eval/evaluate.js";
import { ScriptedPolicy } from "../../../src/rollout/testing/scripted-policy.js";
import { acknowledge, folder } from "./acknowledge.js";

const questions = ["A", "B", "C"];
export const asked: string[] = [];
const policy = new ScriptedPolicy(({ text }) => {
  asked.push(text);
  return { text: `<answer>\\boxed{${text.includes("A") ? "right" : "left"}}</answer>` };
});
const toy = {
  benchmark: { name: "toy", title: "toy", task: "qa", prompt: "none" },
  items: questions.map((question, index) => ({ index, question, answer: "right", row: {} })),
  ...{ path: "", sha256: "toy" },
} as const;
let told = 0;
const evaluation = await evaluate(policy, toy, {
  folder: join(folder, "results"),
  ...{ samples: 2, seed: 1, live: false, concurrency: 1 },
  onSample: () => acknowledge(++told),
});
acknowledge("done");
console.log(
  JSON.stringify({ asked: asked.length, accuracy: evaluation.benchmarks[0]!.accuracy.value }),
);
