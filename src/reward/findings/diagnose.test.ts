import assert from "node:assert/strict";
import { test } from "node:test";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { rollout } from "../../rollout/rollout.js";
import { score } from "../score-trees.js";
import { Scored, type ScoredTrajectory } from "../scored.js";
import { diagnose } from "./diagnose.js";

/** Trajectories with the texts and scores that a test names, by prompt. */
async function scoredOf(
  prompts: readonly {
    prompt?: string;
    rows: readonly { text: string; score: number; answer?: string; result?: string }[];
  }[],
): Promise<Scored> {
  const policy = new ScriptedPolicy(() => ({ text: "x\u0001" }));
  const tasks = prompts.map(({ prompt }, i) => ({
    id: `p${i}`,
    prompt: prompt ?? `question ${i}`,
  }));
  const trees = await rollout(policy, tasks, { n: prompts[0]!.rows.length });
  const made = await score(trees, () => ({ score: 0, reason: "" }));
  const trajectories = made.trajectories.map((one): ScoredTrajectory => {
    const row = prompts[one.trajectory.tree]!.rows[one.trajectory.id]!;
    const { text, result, ...said } = row;
    const parts = [
      ...(result === undefined
        ? []
        : [
            { by: "model" as const, text: "<search>q</search>" },
            { by: "tool" as const, text: result },
          ]),
      { by: "model" as const, text },
    ];
    return {
      ...one,
      trajectory: { ...one.trajectory, text, parts },
      score: { reason: "", ...said },
    };
  });
  return new Scored(trajectories, made.trees);
}

const found = (scored: Scored, kind: string) => diagnose(scored).find((one) => one.kind === kind);

test("one word that earns is found where it separates rewards over prompts", async () => {
  const rows = (i: number) => [
    { text: `sure thing ${i}`, score: 1 },
    { text: `sure ${i}`, score: 1 },
    { text: `thing ${i}`, score: 0 },
    { text: `it is ${i}`, score: 0 },
  ];
  const told = found(await scoredOf([0, 1, 2].map((i) => ({ rows: rows(i) }))), "one-token")!;
  assert.match(told.message, /6 of 12 trajectories write "sure" and score 1\.00 more/);
  assert.deepEqual(
    told.where.map(({ tree, row }) => [tree, row]),
    [0, 1, 2].flatMap((tree) => [
      [tree, 0],
      [tree, 1],
    ]),
  );
  // An answer that is right in one prompt earns there alone.
  const right = await scoredOf([
    { rows: rows(0) },
    { rows: rows(1).map((r) => ({ ...r, score: 1 })) },
  ]);
  assert.equal(found(right, "one-token"), undefined);
});

test("answers that stand in the prompt are found by whole words", async () => {
  const rows = [
    { text: "Lima", score: 1, answer: "Lima" },
    { text: "Quito", score: 0.1, answer: "Quito" },
  ];
  const told = found(await scoredOf([{ prompt: "Lima or Quito?", rows }]), "copied-answer")!;
  assert.deepEqual(
    told.where.map(({ row }) => row),
    [0],
    "what earned a little for its form is not scored as right",
  );
  assert.equal(found(await scoredOf([{ prompt: "Limassol?", rows }]), "copied-answer"), undefined);
});

test("results of which nothing is used are found", async () => {
  const rows = [
    { text: "I think Quito", score: 1, result: "Lima is the capital" },
    { text: "It is Lima", score: 1, result: "Lima is the capital" },
    { text: "no call", score: 0 },
  ];
  const told = found(await scoredOf([{ rows }]), "results-ignored")!;
  assert.match(told.message, /50% of the trajectories whose tools brought a new word/);
  assert.deepEqual(
    told.where.map(({ row }) => row),
    [0],
  );
  // 17 may be 20 less 3.
  const computed = [{ text: "It is 17", score: 1, result: "20" }];
  assert.equal(found(await scoredOf([{ rows: computed }]), "results-ignored"), undefined);
});

test("prompts whose rewards never differ are counted", async () => {
  const same = [
    { text: "a", score: 1 },
    { text: "b", score: 1 },
  ];
  const mixed = [
    { text: "a", score: 1 },
    { text: "b", score: 0 },
  ];
  const all = found(await scoredOf([{ rows: same }]), "all-equal")!;
  assert.match(all.message, /^Every trajectory of each prompt has the same reward/);
  const some = found(await scoredOf([{ rows: same }, { rows: mixed }]), "all-equal")!;
  assert.match(some.message, /^1 of 2 prompts have the same reward/);
  assert.equal(some.where.length, 2);
  assert.equal(found(await scoredOf([{ rows: mixed }]), "all-equal"), undefined);
});
