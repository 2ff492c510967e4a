import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { advantages } from "../../learn/advantages.js";
import { score } from "../../reward/score-trees.js";
import { presets } from "../../run/presets.js";
import { rollout } from "../../rollout/rollout.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { importRollouts } from "../import-rollouts.js";
import { saveAtif } from "./save-atif.js";

interface Step {
  metrics?: { logprobs: number[]; extra: { entropies: number[]; advantages: number[] } };
}

test("saveAtif: what is read back has every trajectory's ids, masks, numbers and score", async () => {
  const path = join(temporaryFolder("atif"), "trajectories.jsonl");
  const policy = randomTextPolicy();
  const tools = new ToolSet([calculator()]);
  const prompt = [
    { role: "system", content: "Be short." },
    { role: "user", content: "6*7?" },
  ];
  const options = { ...presets.arpo, tools, n: 6, initialRollouts: 3, seed: 3 };
  const tree = await rollout(policy, { prompt, groundTruth: "42" }, options);
  assert.ok(tree.nodes.some(({ kind }) => kind === "tool"));
  const batch = advantages(await score(tree, ({ length }) => length));
  await saveAtif([tree], path, { batch });

  const steps = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { steps: Step[] }).steps);
  const imported = await importRollouts(path, { tokenizer: policy.tokenizer });
  assert.equal(imported.format, "atif");
  const read = imported.tree(0);
  assert.equal(read.trajectories.length, tree.trajectories.length);
  const numbers = (values: Float32Array, mask: ArrayLike<number>) =>
    [...values].filter((_, t) => mask[t] === 1);
  for (const [i, row] of tree.trajectories.entries()) {
    const again = read.trajectories[i]!;
    assert.deepEqual([...again.prompt, ...again.tokens], [...row.prompt, ...row.tokens]);
    // An end that the rules appended was not sampled: it is no completion.
    const appended = tree.nodes[row.nodes.at(-1)!]!.kind === "end" ? 1 : 0;
    const mask = row.lossMask.map((value, t) => (t < row.tokens.length - appended ? value : 0));
    assert.deepEqual([...again.lossMask], [...mask]);
    const metrics = steps[i]!.flatMap(({ metrics }) => metrics ?? []);
    const written = (name: "logprobs" | "entropies") => numbers(row[name], mask);
    assert.deepEqual(
      metrics.flatMap(({ logprobs }) => logprobs),
      written("logprobs"),
    );
    assert.deepEqual(
      metrics.flatMap(({ extra }) => extra.entropies),
      written("entropies"),
    );
    const advantage = batch.trajectories[i]!.advantages;
    assert.deepEqual(
      metrics.flatMap(({ extra }) => extra.advantages),
      numbers(advantage, mask),
    );
    assert.equal(imported.scoredOf(0)!.trajectories[i]!.score.score, row.tokens.length);
  }
  assert.deepEqual(steps[0]!.slice(0, 2), [
    { step_id: 1, source: "system", message: "Be short." },
    { step_id: 2, source: "user", message: "6*7?" },
  ]);
});

test("saveAtif refuses a file that is not a list of lines", async () => {
  const policy = randomTextPolicy();
  const tree = await rollout(policy, { prompt: "6*7?" }, { n: 2, seed: 1 });
  await assert.rejects(
    saveAtif([tree], "x.json"),
    /Cannot save ATIF: the file name must end in \.jsonl, or in \.json for one trajectory, got x\.json for 2/,
  );
});
