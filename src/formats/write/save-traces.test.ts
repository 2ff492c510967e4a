import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { advantages } from "../../learn/advantages.js";
import { presets } from "../../run/presets.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { importRollouts } from "../import-rollouts.js";
import { saveTraces } from "./save-traces.js";

interface Trace {
  nodes: ({ message: { role: string }; token_ids: number[] } & Partial<
    Record<"logprobs" | "entropies" | "advantages", number[]>
  >)[];
}

test("saveTraces: what is read back has every row's ids, log-probs, entropies, advantages and scores", async () => {
  const path = join(temporaryFolder("traces"), "traces.jsonl");
  const policy = randomTextPolicy();
  const options = {
    ...presets.arpo,
    tools: new ToolSet([calculator()]),
    n: 6,
    initialRollouts: 3,
    seed: 3,
  };
  const tree = await rollout(policy, { prompt: "6*7?", groundTruth: "42" }, options);
  assert.ok(tree.trajectories.some(({ kind }) => kind === "branch"));
  assert.ok(tree.nodes.some(({ kind }) => kind === "tool"));
  const scored = await score(tree, ({ length }) => ({
    score: length,
    reason: "long",
    parts: { length },
  }));
  const batch = advantages(scored);
  await saveTraces([tree], path, { batch });

  const imported = await importRollouts(path, { tokenizer: policy.tokenizer });
  assert.equal(imported.format, "verifiers-traces");
  assert.equal(imported.trees.length, 1);
  const read = imported.trees[0]!;
  assert.equal(read.trajectories.length, tree.trajectories.length);
  for (const [i, row] of tree.trajectories.entries()) {
    const again = read.trajectories[i]!;
    assert.deepEqual([...again.prompt, ...again.tokens], [...row.prompt, ...row.tokens]);
    assert.equal(imported.scoredOf(0)!.trajectories[i]!.score.score, row.tokens.length);
  }
  const [episode] = readFileSync(path, "utf8").split("\n");
  const { traces, task } = JSON.parse(episode!) as { task: { data: object }; traces: Trace[] };
  for (const [i, { nodes }] of traces.entries()) {
    const { tokens, logprobs, entropies, prompt } = tree.trajectories[i]!;
    const { advantages: given } = batch.trajectories[i]!;
    const sampled = [...tokens.keys()].filter((at) => !Number.isNaN(logprobs[at]));
    const all = (name: "logprobs" | "entropies" | "advantages") =>
      nodes.flatMap((node) => node[name] ?? []);
    assert.deepEqual(
      nodes.flatMap(({ token_ids: ids }) => ids),
      [...prompt, ...tokens],
    );
    assert.deepEqual(
      all("logprobs"),
      sampled.map((at) => logprobs[at]),
    );
    assert.deepEqual(
      all("entropies"),
      sampled.map((at) => entropies[at]),
    );
    assert.deepEqual(
      all("advantages"),
      sampled.map((at) => given[at]),
    );
  }
  assert.deepEqual(task.data, { answer: "42", prompt: tree.prompt.text });
  assert.deepEqual(
    traces[0]!.nodes.slice(0, 2).map(({ message }) => message.role),
    ["user", "assistant"],
  );
  await assert.rejects(saveTraces([tree], "x.json"), /must end in \.jsonl, got x\.json/);
});
