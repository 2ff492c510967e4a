import { deepEqual, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { TestSession } from "./test-session.js";

// The compiler names the option that is wrong: a function has one signature, whatever it is given.

const declared = `
import { advantages, fineTune, score, update } from "arpo-lab/learn";
import type { Policy } from "arpo-lab/policy";
import { rollout } from "arpo-lab/rollout";
import { evaluate, trainOn } from "arpo-lab/run";
declare const policy: Policy & Parameters<typeof trainOn>[0] & Parameters<typeof fineTune>[0];
declare const tree: Parameters<typeof score>[0];
declare const scored: Parameters<typeof advantages>[0];
declare const batch: Parameters<typeof update>[1];
const chat = { prompt: [{ role: "user" as const, content: "2+2?" }], groundTruth: "4" };
const task = { prompt: "2+2?", groundTruth: "4", level: 3 };
`;

const session = new TestSession(process.cwd());

/** What the compiler says of code, in full. */
async function said(code: string): Promise<string[]> {
  const compiled = await session.compile(declared + code);
  if (compiled.ok) return [];
  return compiled.diagnostics.map(({ message, full }) => `${message}\n${full ?? ""}`);
}

/** Calls up to their options, an option that takes a number, and a slip of it. */
const calls: readonly [call: string, option: string, slip: string][] = [
  ["rollout(policy, task", "beamSize", "beamsize"],
  ["rollout(policy, [task, task]", "beamSize", "beamsize"],
  ["rollout(policy, '2+2?'", "beamSize", "beamsize"],
  ["rollout(policy, ['2+2?', '3+3?']", "beamSize", "beamsize"],
  ["rollout(policy, [{ role: 'user', content: '2+2?' }]", "beamSize", "beamsize"],
  ["evaluate(policy, [task]", "samples", "sampels"],
  ["evaluate(policy, 'math500'", "samples", "sampels"],
  ["evaluate(policy, ['math500', 'gsm8k']", "maxTokens", "maxTokns"],
  ["trainOn(policy, [chat]", "learningRate", "learningrate"],
  ["trainOn(policy, { train: [chat] }", "learningRate", "learningrate"],
  ["fineTune(policy, []", "learningRate", "learningrate"],
  ["score(tree, () => 1", "timeoutMs", "timeoutMS"],
  ["advantages(scored", "gamma", "gama"],
  ["update(policy, batch", "learningRate", "learningrate"],
];

for (const [call, option, slip] of calls) {
  test(`${call}, …) names the option that is wrong`, async () => {
    const [type = ""] = await said(`${call}, { ${option}: "3" })`);
    match(type, new RegExp(`${option} must be [^\\n]*number[^\\n]*got string`));
    const [name = ""] = await said(`${call}, { ${slip}: 3 })`);
    match(name, new RegExp(`there is no ${slip}; .*Did you mean ${option}\\?`));
    for (const text of [type, name]) ok(!text.includes("No overload"), text);
    deepEqual(await said(`${call}, { ${option}: 3 })`), []);
  });
}

test("what comes back has the type of what was given", async () => {
  deepEqual(
    await said(`
      const one: number = (await rollout(policy, task)).task.level;
      const many: number[] = (await rollout(policy, [task])).map((tree) => tree.task.level);
      const asked: string = (await rollout(policy, "2+2?")).trajectories[0]!.text;
      const turns: string = (await rollout(policy, [{ role: "user", content: "2+2?" }])).trajectories[0]!.text;
      const list: number = (await rollout(policy, ["2+2?", "3+3?"])).length;
      const mean: number = (await evaluate(policy, [task], { samples: 2 })).mean;
      const reports: number = (await evaluate(policy, "math500", { folder: "a" })).benchmarks.length;
      const read: number = (await evaluate(policy, JSON.parse("[]"), { reward: () => 1 })).mean;
    `),
    [],
  );
});

const own = `
import { defineLoss, option, positive } from "arpo-lab/experimental/learn";
const spring = defineLoss({
  name: "spring", title: "Spring", aggregation: "token-mean", rule: "verl-0.9.1",
  options: { stiffness: option(positive, 1) },
  tensors: (input, { stiffness }, { total, figures }) =>
    ({ loss: total(input.logprobs.mul(stiffness)), metrics: figures(input, input.logprobs) }),
  token: ({ ratio }, _, { stiffness }) => ({ ratio, region: "inside", used: 1, weight: stiffness, loss: 0 }),
});
`;

for (const begun of ["update(policy, batch", "trainOn(policy, [chat]"]) {
  test(`${begun}, …) knows the options of a loss of one's own, which stand beside it`, async () => {
    const call = (options: string) => said(`${own} ${begun}, { loss: spring, ${options} })`);
    deepEqual(await call("stiffness: 2, learningRate: 1e-3"), []);
    match((await call("stifness: 2"))[0]!, /there is no stifness; .*Did you mean stiffness\?/);
    match((await call('stiffness: "2"'))[0]!, /stiffness must be [^\n]*number[^\n]*got string/);
    match(
      (await call("learningrate: 2"))[0]!,
      /there is no learningrate; .*Did you mean learningRate\?/,
    );
    match((await said(`${begun}, { stiffness: 2 })`))[0]!, /there is no stiffness/);
  });
}
