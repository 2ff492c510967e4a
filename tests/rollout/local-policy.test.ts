import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteTokenizer } from "../policy/byte-tokenizer.js";
import { EngineDecoder } from "../../src/model/decoder/engine.js";
import { decoderShape, decoderWeights } from "../../src/model/decoder/of-model.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { PlainDecoder } from "../../src/model/decoder/plain.js";
import type { Decoder } from "../../src/model/decoder/decoder.js";
import type { DecoderShape, WeightsSource } from "../../src/model/decoder/weights.js";
import { LocalPolicy } from "../../src/policy/local-policy.js";
import { loadNativeEngine, nativeEngineExists } from "../../src/tensor/engine/native-engine.js";
import { loadWasmEngine } from "../../src/tensor/engine/wasm-engine.js";
import { tf } from "../../src/tensor/tf.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { treesToJsonl } from "../../src/rollout/files/tree-jsonl.js";
import type { ExpansionRule } from "../../src/rollout/rules/registry.js";
import type { RolloutOptions, TrajectoryJudge } from "../../src/rollout/options.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";

const tokenizer = new ByteTokenizer(["<calc>", "</calc>"]);
const [open, close] = [256, 257];

/** Every decoder there is: in plain code, and the compiled engine as wasm and, where built, native. */
const decoders = {
  plain: (...parts: Parts) => new PlainDecoder(...parts),
  wasm: (...parts: Parts) => new EngineDecoder(loadWasmEngine().call, ...parts),
  ...(nativeEngineExists() && {
    native: (...parts: Parts) => new EngineDecoder(loadNativeEngine().call, ...parts),
  }),
};
type Parts = [DecoderShape, WeightsSource];
type MakeDecoder = (...parts: Parts) => Decoder;

/** A model of random weights that is held to digits, sums, calls and ends. */
function randomPolicy(seed: number, makeDecoder: MakeDecoder = decoders.plain) {
  const shape = { hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2 };
  const config = { vocabSize: tokenizer.vocabSize, contextLength: 256, ...shape };
  const model = Model.init({ ...config, initializerRange: 0.1 }, seed);
  const decoder = makeDecoder(decoderShape(model.config), () => decoderWeights(model));
  return { model, policy: new LocalPolicy({ name: "random", tokenizer, decoder }) };
}

const allowedIds = [...tokenizer.encode("123+- "), open, close, tokenizer.eosId];
// Calls without an opening tag of their own find the prompt's: such a model seldom writes both.
const tasks = [{ prompt: "What is <calc>1+1" }, { prompt: "<calc>2" }];
const options = {
  ...rolloutPresets.arpo,
  n: 8,
  initialRollouts: 3,
  beamSize: 3,
  branchProbability: 0.7,
  compat: { searchPrompt: true },
  responseLength: 80,
  seed: 11,
};

test("a tree's trajectories, scored again by the model, have the stored log-probs", async () => {
  let branches = 0;
  let results = 0;
  let compared = 0;
  for (const temperature of [1, 0.6, 1.3]) {
    const { model, policy } = randomPolicy(3);
    const tools = new ToolSet([calculator()]);
    const sampling = { temperature, allowedIds };
    const trees = await rollout(policy, tasks, { ...options, sampling, tools });
    for (const tree of trees) {
      branches += tree.trajectories.filter((trajectory) => trajectory.kind === "branch").length;
      for (const { prompt, tokens, logprobs, entropies, toolCalls } of tree.selected) {
        results += toolCalls.length;
        const trajectory = [...prompt, ...tokens];
        const again = model.logProbs(
          model.batch([trajectory]),
          tf.tensor2d([[...trajectory.slice(1), 0]], undefined, "int32"),
          { temperature },
        );
        const wanted = again.logprobs.dataSync().subarray(prompt.length - 1);
        const unsure = again.entropies.dataSync().subarray(prompt.length - 1);
        for (const [i, logprob] of logprobs.entries()) {
          if (Number.isNaN(logprob)) continue;
          compared++;
          assert.ok(Math.abs(logprob - wanted[i]!) < 1e-4, `${i}: ${logprob} ${wanted[i]}`);
          assert.ok(Math.abs(entropies[i]! - unsure[i]!) < 1e-4);
        }
      }
    }
    assert.equal(policy.bytes(), 0);
    model.dispose();
    policy.dispose();
  }
  assert.ok(branches > 2 && results > 9 && compared > 300, `${branches} ${results} ${compared}`);
});

/** What the model itself says of a tree's trajectories; the greatest difference to what the tree says. */
function farthest(model: Model, tree: RolloutTree): number {
  let most = 0;
  for (const { prompt, tokens, logprobs } of tree.selected) {
    const trajectory = [...prompt, ...tokens];
    const labels = tf.tensor2d([[...trajectory.slice(1), 0]], undefined, "int32");
    const again = model.logProbs(model.batch([trajectory]), labels).logprobs.dataSync();
    for (const [i, logprob] of logprobs.entries()) {
      if (Number.isNaN(logprob)) continue;
      most = Math.max(most, Math.abs(logprob - again[prompt.length - 1 + i]!));
    }
  }
  return most;
}

const judge: TrajectoryJudge = (trajectories) => trajectories.map(({ id }) => id % 2 === 0);
const expanded = {
  "tree-grpo": {},
  at2po: { n: 8, initialRollouts: 4 },
  treerl: { expand: { trees: 2 } },
  appo: { n: 8, initialRollouts: 4 },
  "appo-rollout": { n: 8, initialRollouts: 4 },
  fr3e: { initialRollouts: 2, judge, expand: { rows: 2 } },
  treepo: { n: 8, expand: { segment: 4 } },
  "spo-tree": { expand: { segment: 4, factors: [2, 2, 2] } },
  branpo: { judge },
  redraw: { n: 8, initialRollouts: 4 },
} as const satisfies Record<ExpansionRule, RolloutOptions>;

for (const [name, makeDecoder] of Object.entries(decoders)) {
  test(`the ${name} decoder leaves trajectories anywhere: every branch is what the model says of it`, async () => {
    for (const [rule, settings] of Object.entries(expanded)) {
      const { model, policy } = randomPolicy(3, makeDecoder);
      const grown = async (maxWorkers: number) =>
        rollout(policy, tasks, {
          ...{ rule: rule as ExpansionRule, seed: 4, responseLength: 40, sampling: { allowedIds } },
          ...{ compat: { searchPrompt: true }, ...settings },
          tools: new ToolSet([calculator()], { maxWorkers }),
        });
      const trees = await grown(64);
      const branches = trees.flatMap(({ trajectories }) =>
        trajectories.filter(({ kind }) => kind === "branch"),
      );
      assert.ok(branches.length > 0, rule);
      for (const tree of trees) {
        assert.ok(farthest(model, tree) < 1e-4, rule);
      }
      const bytes = (list: RolloutTree[]) => treesToJsonl(list, { timing: false });
      assert.ok(bytes(trees) === bytes(await grown(1)), rule);
      assert.equal(policy.bytes(), 0);
      model.dispose();
      policy.dispose();
    }
  });

  test(`the ${name} decoder gives the same trees for any workers, alone or in company`, async () => {
    const { model, policy } = randomPolicy(5, makeDecoder);
    const sampling = { allowedIds };
    const bytes = async (maxWorkers: number, list: typeof tasks) => {
      const tools = new ToolSet([calculator()], { maxWorkers });
      const trees = await rollout(policy, list, { ...options, sampling, tools });
      return treesToJsonl(trees.slice(0, 1), { timing: false });
    };
    const wanted = await bytes(64, tasks);
    assert.ok(wanted === (await bytes(1, tasks)));
    assert.ok(wanted === (await bytes(2, tasks.slice(0, 1))));
    assert.equal(policy.bytes(), 0);
    model.dispose();
    policy.dispose();
  });
}

test("a rollout that is stopped gives all of a local policy's memory back", async () => {
  const { model, policy } = randomPolicy(5);
  const stop = new AbortController();
  let segments = 0;
  const running = rollout(policy, tasks, {
    ...options,
    sampling: { allowedIds },
    tools: new ToolSet([calculator()]),
    signal: stop.signal,
    onEvent: ({ type }) => {
      if (type === "segment" && ++segments === 5) stop.abort(new Error("interrupted"));
    },
  });
  await assert.rejects(running, /interrupted/);
  assert.equal(policy.bytes(), 0);
  model.dispose();
  policy.dispose();
});

test("a fork of a local policy's tree continues as the model would", async () => {
  const { model, policy } = randomPolicy(3);
  const tools = new ToolSet([calculator()]);
  const sampling = { temperature: 0, allowedIds };
  const tree = await rollout(policy, tasks[0]!, { seed: 1, responseLength: 40, sampling, tools });
  const text = (t: RolloutTree) => t.selected[0]!.text;
  for (const at of [1, 5]) assert.equal(text(await tree.fork(0, { at })), text(tree));
  model.dispose();
  policy.dispose();
});
