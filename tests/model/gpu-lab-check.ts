// Run by gpu-lab.slow.test.ts: a policy as people load it, on a machine whose GPU was measured to be the
// faster one for decoding (so says a file of its cache): a tree with tools and branches, an evaluation, a
// server, training, rounded weights; each beside the compiled engine. Prints what was found as JSON.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { worldPages } from "../../src/tasks/tasks/world.js";
import type { LoadedBenchmark } from "../../src/eval/benchmarks/benchmark.js";
import { evaluate } from "../../src/eval/evaluate.js";
import {
  advantages,
  Policy,
  Random,
  rollout,
  type RolloutTree,
  score,
  tasks,
  ToolSet,
  update,
  world,
} from "../../src/api/index.js";
import { machineKey, remember, shapeKey } from "../../src/model/choose/remembered.js";
import { EngineDecoder } from "../../src/model/decoder/engine.js";
import { parseHfConfig } from "../../src/model/files/hf-config.js";
import type { Decoder } from "../../src/model/decoder/decoder.js";
import { decoderShape, decoderWeights } from "../../src/model/decoder/of-model.js";
import { makeDecoder } from "../../src/model/decoder/make-decoder.js";
import { LocalPolicy } from "../../src/policy/local-policy.js";
import type { Policy as AnyPolicy } from "../../src/policy/policies.js";
import { PolicyServer } from "../../src/interop/serve/policy-server.js";
import { decodeBackend, ready } from "../../src/tensor/backends.js";
import { compiledEngine } from "../../src/tensor/engine/compiled-engine.js";
import { webgpuDevice } from "../../src/tensor/optional/webgpu.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { offlineSearch } from "../../src/tools/search/offline.js";
import { searchTool } from "../../src/tools/search/search-tool.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { MirroredDecoder } from "./mirrored-decoder.js";

const folder = new URL("../../../data/models/tiny", import.meta.url).pathname;

const engineName = await ready();
const config = parseHfConfig(JSON.parse(await readFile(join(folder, "config.json"), "utf8")));
for (const [dtype, names] of [
  ["float32", ["train", "decode"]],
  ["int8", ["decode"]],
] as const) {
  await remember({
    machine: machineKey(),
    shape: shapeKey(config, { tasks: names, dtype }),
    timings: [
      { backend: engineName, on: "this processor", train: 1, decode: 9 },
      { backend: "webgpu", on: "a card that is fast", train: 9, decode: 1 },
    ],
  });
}

const policy = await Policy.load(folder);
const { model, tokenizer } = policy;
const device = await webgpuDevice();
const faults: string[] = [];
device.addEventListener("uncapturederror", ({ error }) => faults.push(error.message));

const engine = compiledEngine()!;
const shape = decoderShape(model.config);
const engineDecoder = (dtype: "float32" | "int8" = "float32") =>
  new EngineDecoder(engine.call, shape, () => decoderWeights(model), dtype);
const policyOf = (decoder: Decoder) =>
  new LocalPolicy({ name: "tiny", tokenizer, decoder, weightsVersion: () => model.version });

const tools = new ToolSet([
  calculator({ tag: "python" }),
  searchTool({ provider: offlineSearch({ pages: worldPages(world) }), maxResults: 3 }),
]);
const task = tasks.multihop({ seed: 2 }).train[5]!;
const grow = (from: AnyPolicy) =>
  rollout(from, task, {
    ...{ preset: "arpo", n: 5, initialRollouts: 2, branchProbability: 1 },
    ...{ responseLength: 90, seed: 1, tools },
  });

/** What a tree is, without what differs by rounding. */
const plain = (tree: RolloutTree) => ({
  trajectories: tree.trajectories.map(({ kind, parent, from, leaf, end, calls, chosen, text }) => ({
    ...{ kind, parent, from, leaf, end, calls, text },
    at: chosen?.at,
  })),
  nodes: tree.nodes.map(({ parent, kind, text, tokens }) => ({
    ...{ parent, kind, text, tokens: [...tokens] },
  })),
});

async function treeBeside() {
  const mirror = new MirroredDecoder(makeDecoder(model), engineDecoder());
  const mirrored = policyOf(mirror);
  const right = policyOf(engineDecoder());
  const [ours, expected] = [await grow(mirrored), await grow(right)];
  const { steps, forks, truncations, mostRows, apart, otherwise } = mirror;
  const calls = ours.nodes.filter(({ kind }) => kind === "tool").length;
  const same = JSON.stringify(plain(ours)) === JSON.stringify(plain(expected));
  // Past the prompt: below a node that has another child already.
  const branches = ours.nodes.filter(
    ({ parent }, i) => parent >= 0 && ours.nodes.findIndex((other) => other.parent === parent) < i,
  ).length;
  mirrored.dispose();
  right.dispose();
  const seen = { steps, forks, truncations, mostRows, apart, otherwise };
  return { tree: ours, found: { ...seen, calls, branches, same } };
}

const greedy = async (from: AnyPolicy, count: number) => {
  const session = from.session();
  const row = session.open(tokenizer.encode("The capital of"));
  const options = { maxTokens: count, temperature: 0, random: Random.from(1) };
  const { tokens, logprobs } = await session.generate(row, options);
  session.dispose();
  return { tokens: [...tokens], logprobs: [...logprobs] };
};

const question: LoadedBenchmark = {
  benchmark: { name: "toy", title: "toy", task: "qa", prompt: "none" },
  items: [{ index: 0, question: "The mayor of Savia is", answer: "Fileth", row: {} }],
  ...{ path: "", sha256: "toy" },
};
const answered = async (from: AnyPolicy) => {
  const options = { sampling: { temperature: 0 }, maxTokens: 8, samples: 1, seed: 1 };
  const { samples } = await evaluate(from, question, options);
  return samples.map(({ output }) => output);
};

async function served(from: AnyPolicy) {
  const server = await PolicyServer.start(from, { model: "tiny" });
  const response = await fetch(`${server.url}/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "tiny", prompt: "The river of", max_tokens: 6, temperature: 0 }),
  });
  const { choices } = (await response.json()) as { choices: { text: string }[] };
  await server.stop();
  return choices[0]!.text;
}

const right = policyOf(engineDecoder());
const { tree, found } = await treeBeside();
const both = async <T>(of: (from: AnyPolicy) => Promise<T>) => [await of(policy), await of(right)];
const evaluated = await both(answered);
const completed = await both(served);
const before = await greedy(policy, 8);
// Whatever the tree is worth: every second row is to become more likely.
const batch = advantages(await score(tree), { estimator: "grpo" });
for (const [i, row] of batch.trajectories.entries()) row.advantages.fill(i % 2 ? 1 : -1);
await update(policy, batch, { preset: "aepo", learningRate: 5e-3 });
const trained = await both((from) => greedy(from, 8));
const rounded = await Policy.load(folder, { dtype: "int8" });
const untrained = await loadModel(folder);
const int8 = new EngineDecoder(engine.call, shape, () => decoderWeights(untrained), "int8");
const eights = [await greedy(rounded, 8), await greedy(policyOf(int8), 8)];
const result = {
  ...{ backend: engineName, decodes: decodeBackend(), tree: found, evaluated, completed },
  ...{ before, trained, eights, sampler: rounded.sampler, faults },
};
await tools.dispose();
process.stdout.write(JSON.stringify(result), () => process.exit(0));
