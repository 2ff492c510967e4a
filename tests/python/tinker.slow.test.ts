// SkyRL's own Tinker server, on its JAX backend without a GPU: what is trained there is what is trained
// here. Needs a Python with `skyrl[tinker,jax]` (ARPO_LAB_TINKER_PYTHON) and is left out, saying so, where
// there is none.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { tasks } from "../../src/tasks/tasks/index.js";
import { advantages } from "../../src/learn/advantages.js";
import { fineTune } from "../../src/learn/sft/fine-tune.js";
import { Learner, update } from "../../src/learn/update/learner.js";
import { type UpdateOptions, updateSettings } from "../../src/learn/update/update-settings.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { loadAdapter } from "../../src/model/lora/load-adapter.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { saveModel } from "../../src/model/files/save-model.js";
import { score } from "../../src/reward/score-trees.js";
import { rollout } from "../../src/rollout/rollout.js";
import { worldDemonstrations } from "../../src/run/tiny/world-demonstrations.js";
import { tinyTokenizer } from "../../src/run/tiny/tiny-tokenizer.js";
import { engine } from "../../src/interop/engine.js";
import type { TinkerPolicy } from "../../src/interop/tinker/tinker-policy.js";
import {
  adaptersOf,
  apart,
  SurprisedTrainee,
} from "../../src/interop/tinker/testing/near-and-far.js";
import { ready } from "../../src/tensor/backends.js";
import { ToolSet } from "../../src/tools/tool-set.js";

const python = process.env.ARPO_LAB_TINKER_PYTHON;
const script = fileURLToPath(new URL("../../../tests/python/serve_tinker.py", import.meta.url));
const { status, stderr } = spawnSync(python ?? "python3", ["-c", "import skyrl.tinker.api, jax"], {
  encoding: "utf8",
});
const skip =
  python === undefined
    ? "LEFT OUT: ARPO_LAB_TINKER_PYTHON names no Python with skyrl[tinker,jax]"
    : status !== 0 &&
      `LEFT OUT: ${python} cannot import skyrl[tinker,jax]: ${stderr.trim().split("\n").at(-1)}`;

const files = tinyTokenizer();
const tokenizer = new HfTokenizer(files);
const tools = new ToolSet([
  { name: "python", tag: "python", description: "Answers 42.", execute: () => "42" },
]);

/** A small Qwen3 that has seen what a call of Python looks like. */
async function callingModel(folder: string): Promise<void> {
  const sizes = { hiddenSize: 32, intermediateSize: 64, layers: 2, heads: 4, kvHeads: 2 };
  const { vocabSize, eosIds } = tokenizer;
  const model = Model.init(
    {
      ...{ family: "qwen3", vocabSize, eosIds: [...eosIds], contextLength: 512, ...sizes },
      initializerRange: 0.05,
    },
    3,
  );
  const seen = await worldDemonstrations({ counts: { calc: 128 }, seed: 1 });
  await fineTune({ model, tokenizer }, seen, { epochs: 8, batchSize: 16, learningRate: 1e-2 });
  await mkdir(folder, { recursive: true });
  await saveModel(model, folder);
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(files.tokenizer));
  await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(files.config));
  model.dispose();
}

/** Serves a model's folder until the test ends. */
async function serveTinker(t: TestContext, model: string, folder: string): Promise<string> {
  const env = { ...process.env, JAX_PLATFORMS: "cpu" };
  const child = spawn(python!, [script, model, folder], { env });
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said = (said + data.toString()).slice(-4000)));
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.stdin.end();
    await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.startsWith("http")) return line;
  throw new Error(`Cannot test: the server must say its address, got ${said}`);
}

/** The model here with the adapters that the server has now. */
async function nearCopy(far: TinkerPolicy, model: string, folder: string): Promise<Model> {
  await far.fetchAdapter(folder);
  const near = await loadModel(model);
  await loadAdapter(near, folder);
  return near;
}

test("SkyRL's server trains as the lab does, by trees, and learns", { skip }, async (t) => {
  await ready();
  const root = await mkdtemp(join(tmpdir(), "arpo-skyrl-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, "model");
  await callingModel(folder);
  const url = await serveTinker(t, folder, root);
  const options = { tokenizer, contextLength: 512, lora: { rank: 4, seed: 1 }, attempts: 60 };
  const far = await engine.tinker(url, options);
  t.after(() => far.close());
  assert.deepEqual(far.capabilities, { reduction: "mean", clips: false });

  const trees = await rollout(far, tasks.calc({ train: 2, test: 1 }).train, {
    ...{ n: 6, initialRollouts: 3, responseLength: 64, branchProbability: 1, beamSize: 2 },
    ...{ tools, seed: 3 },
  });
  assert.ok(trees.some(({ nodes }) => nodes.some(({ kind }) => kind === "tool")));
  assert.ok(trees.some(({ trajectories: rows }) => rows.some(({ kind }) => kind === "branch")));
  assert.match(far.entropyMeaning, /surprisal/);
  const scored = await score(trees, ({ response }) => (response.length % 7) / 7);

  const arpo: UpdateOptions = { learningRate: 3e-3, maxNorm: Infinity, miniBatchSize: 12 };
  const aepo = { ...arpo, entropyBalancedClipping: true, entropyBalancedAdvantage: true };
  for (const [name, settings] of Object.entries({ arpo, aepo })) {
    // Fresh adapters and moments on either side.
    const model = await engine.tinker(url, options);
    const near = new SurprisedTrainee(
      await nearCopy(model, folder, join(root, `${name}-before`)),
      updateSettings(settings),
    );
    const before = adaptersOf(near.model);
    const there = advantages(scored);
    const here = advantages(scored);
    const report = await new Learner(model.trainee, settings).update(there);
    const same = await new Learner(near, settings).update(here);
    const furthest = there.trajectories.reduce((most, row, i) => {
      const other = here.trajectories[i]!.oldLogprobs!;
      return row.oldLogprobs!.reduce((m, p, at) => Math.max(m, Math.abs(p - other[at]!)), most);
    }, 0);
    const moved = await nearCopy(model, folder, join(root, `${name}-after`));
    const found = apart(before, adaptersOf(moved), adaptersOf(near.model));
    t.diagnostic(
      `${name}: log-probs differ by ${furthest}, weights by ${found.relative} of their way`,
    );
    assert.ok(furthest < 1e-3, `${name}: ${furthest}`);
    assert.ok(found.relative < 1e-3, `${name}: ${found.relative}`);
    const norm = "actor/grad_norm";
    assert.ok(Math.abs(report.metrics[norm]! / same.metrics[norm]! - 1) < 1e-3);
    assert.ok(Math.abs(report.metrics["rollout_corr/kl"]!) < 1e-3);
    moved.dispose();
    near.model.dispose();
    await model.close({ unload: true });
  }

  // What is to be learnt: end tags of Python, as many as can be.
  const curve: number[] = [];
  for (let step = 0; step < 20; step++) {
    const grown = await rollout(far, tasks.calc({ train: 1, test: 1 }).train, {
      ...{ n: 8, initialRollouts: 8, responseLength: 16, tools: new ToolSet(), seed: step },
    });
    const rewards = await score(
      grown,
      ({ response, length }) => (response.split("</python>").length - 1) / length,
    );
    const { trajectories: rows } = rewards;
    curve.push(rows.reduce((sum, row) => sum + row.score.score, 0) / rows.length);
    await update(far, advantages(rewards), { learningRate: 2e-2, maxNorm: Infinity });
  }
  t.diagnostic(`share of the tag by step: ${curve.map((x) => x.toFixed(2)).join(" ")}`);
  const mean = (some: number[]) => some.reduce((a, b) => a + b, 0) / some.length;
  assert.ok(mean(curve.slice(-5)) > mean(curve.slice(0, 5)) + 0.1, curve.join(" "));

  // What was saved is what goes on.
  const saved = await far.save("end");
  const again = await engine.tinker(url, { ...options, resume: saved });
  t.after(() => again.close());
  const rows = trees[0]!.selected.map(({ prompt, tokens }) => ({ prompt, tokens }));
  const [then, now] = await Promise.all([far.logProbs(rows), again.logProbs(rows)]);
  then.forEach(({ logprobs }, i) =>
    logprobs.forEach((p, at) => assert.ok(Math.abs(p - now[i]!.logprobs[at]!) < 1e-4)),
  );
});
