import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TestSession } from "./test-session.js";

const s = new TestSession(fileURLToPath(new URL("../../..", import.meta.url)));

test("%%reward takes a function, a reward over a group and one that asks a judge", async () => {
  await s.run(`import { groupReward, judgeReward, rollout } from "arpo-lab";
    import { ScriptedPolicy } from "arpo-lab/experimental/testing";
    const says = new ScriptedPolicy(() => ({ text: "<answer>It is Paris</answer>\\u0001" }));
    const tree = await rollout(says, { prompt: "The capital?", groundTruth: "Paris" }, { n: 4 }); 0`);
  const scores = async (body: string) => {
    await s.run(`%%reward concurrency=2\n${body}`);
    return s.run("scored.trajectories.map((row) => row.score.score)");
  };
  deepEqual(await scores("(row) => row.response.length"), Array(4).fill(28));
  deepEqual(await scores("groupReward((rows) => rows.map((_, i) => i))"), [0, 1, 2, 3]);
  const judge = `{ judge: async (asked: readonly { prediction: string }[]) =>
    asked.map(({ prediction }) => ({ correct: /paris/i.test(prediction), reply: "yes" })) }`;
  deepEqual(await scores(`judgeReward(${judge})`), [1, 1, 1, 1]);
});
