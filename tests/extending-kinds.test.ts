import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { loadReward } from "../src/reward/load-reward.js";
import type { RewardDefinition } from "../src/reward/rewards/definition.js";
import { rewards } from "../src/reward/rewards/registry.js";
import type { Benchmark } from "../src/eval/benchmarks/benchmark.js";
import { benchmarks } from "../src/eval/benchmarks/benchmarks.js";
import { evaluate } from "../src/eval/evaluate.js";
import type { RolloutFormat } from "../src/formats/formats/format.js";
import { rolloutFormats } from "../src/formats/formats/registry.js";
import { importRollouts } from "../src/formats/import-rollouts.js";
import { chatPrompt } from "../src/interop/serve/tools/chat-prompt.js";
import { chatBody } from "../src/interop/serve/schema/common.js";
import { ToolReader } from "../src/interop/serve/tools/tool-reader.js";
import type { Architecture } from "../src/model/architectures/definition.js";
import { saveModel } from "../src/model/files/save-model.js";
import { loadModel } from "../src/model/load/load-model.js";
import { Model } from "../src/model/transformer/transformer.js";
import type { RopeScalingKind } from "../src/model/rope-scalings/definition.js";
import { type RopeScaling, ropeScalings } from "../src/model/rope-scalings/registry.js";
import { ropeFrequencies } from "../src/model/transformer/rope.js";
import { weightShapes } from "../src/model/transformer/weights.js";
import type { ChatMessage, ChatOptions } from "../src/model/tokenizer/tokenizer.js";
import type { RolloutOptions } from "../src/rollout/options.js";
import { rollout } from "../src/rollout/rollout.js";
import { CodePointTokenizer } from "../src/rollout/testing/code-point-tokenizer.js";
import { ScriptedPolicy } from "../src/rollout/testing/scripted-policy.js";
import type { CallDialect } from "../src/tools/calls/dialects/definition.js";
import { callDialects } from "../src/tools/calls/dialects/registry.js";
import type { Tool } from "../src/tools/tool.js";
import { randomTextPolicy } from "../src/rollout/testing/random-text-policy.js";
import type { LoggedRun, LoggerDefinition } from "../src/run/loggers/definition.js";
import { loggers, openLoggers } from "../src/run/loggers/registry.js";
import { ToolSet } from "../src/tools/tool-set.js";
import { showImported } from "../src/view/imported/imported-view.js";

// A choice of one's own of each kind: one file, which no other file of the library knows.

const folder = await mkdtemp(join(tmpdir(), "kinds-"));
after(() => rm(folder, { recursive: true }));

/** Writes a file with one definition, and loads it as a program would. */
async function definitionIn<D>(name: string, code: string): Promise<D> {
  const path = join(folder, `${name}.mjs`);
  await writeFile(path, `export default ${code};\n`);
  return ((await import(pathToFileURL(path).href)) as { default: D }).default;
}

test("a rollout format of one's own", async () => {
  const pairs = await definitionIn<RolloutFormat>(
    "pairs",
    `{
      name: "pairs",
      title: "lists of question and answer",
      fits: ({ q, a }) => typeof q === "string" && typeof a === "string",
      read: ({ q, a, won }) => ({
        rows: [{ prompt: q, parts: [{ by: "model", text: a }], score: Number(won) }],
      }),
      says: { rewards: "won" },
    }`,
  );
  const path = join(folder, "pairs.jsonl");
  await writeFile(path, '{"q":"2+2?","a":"4","won":true}\n{"q":"2+2?","a":"5","won":false}\n');
  await assert.rejects(importRollouts(path), /must be one of .*messages, got records with.* q, a/);

  const given = await importRollouts(path, { format: pairs });
  assert.deepEqual([given.format, given.prompts[0]!.scores], ["pairs", [1, 0]]);
  const html = showImported(given).html();
  assert.match(html, /pairs: 2 trajectories/);
  assert.match(html, /won/);

  rolloutFormats.add(pairs);
  assert.equal((await importRollouts(path)).format, "pairs");
  assert.equal((await importRollouts(path, { format: "pairs" })).format, "pairs");
  await assert.rejects(importRollouts(path, { format: "piars" }), /did you mean "pairs"\?/);
});

test("a logger of one's own", async () => {
  const lines = await definitionIn<LoggerDefinition>(
    "lines",
    `{
      name: "lines",
      words: "a line a step",
      open: ({ run, write }) => ({
        name: "lines",
        log: (step, metrics) => write(run + " " + step + " " + metrics.score),
      }),
    }`,
  );
  const written: string[] = [];
  const [write, warn] = [(text: string) => void written.push(text), assert.fail];
  const run: LoggedRun = { folder, project: "p", run: "r", config: {}, write };
  const [given] = await openLoggers([lines], run, warn);
  await given!.log(1, { score: 0.5 });
  assert.deepEqual(written, ["r 1 0.5"]);

  loggers.add(lines);
  const [named] = await openLoggers(["lines" as "console"], run, warn);
  await named!.log(2, { score: 1 });
  assert.equal(written.at(-1), "r 2 1");
  await assert.rejects(openLoggers(["linse" as "console"], run, warn), /did you mean "lines"\?/);

  // The configuration knows it too, and its documentation names it.
  const { loadConfig } = await import("../src/run/config/load.js");
  const load = (override: string) =>
    loadConfig({ preset: ["grpo", "tiny"], overrides: [override] });
  assert.deepEqual((await load("trainer.logger=[lines]")).config.trainer.logger, ["lines"]);
  await assert.rejects(load("trainer.logger=[linse]"), /"lines".*got \["linse"\]/);
  const { configKeys } = await import("../src/run/config/keys.js");
  assert.match(JSON.stringify(configKeys()), /lines \(a line a step\)/);
});

test("a benchmark of one's own", async () => {
  const sums = await definitionIn<Benchmark>(
    "sums",
    `{
      name: "sums",
      title: "Sums by hand",
      task: "math",
      question: "q",
      readAnswer: (answer) => Number(answer) + 1,
      folder: ${JSON.stringify(folder)},
      published: [{ model: "m", algorithm: "ARPO", k: 1, value: 50, source: "a note" }],
    }`,
  );
  await mkdir(join(folder, "sums"));
  await writeFile(join(folder, "sums", "test.jsonl"), '{"q":"2+2?","answer":3}\n');
  const options = { tools: new ToolSet(), maxTokens: 8, live: false };
  const given = await evaluate(randomTextPolicy(), sums, options);
  assert.equal(given.samples[0]!.answer, 4);
  assert.equal(given.benchmarks[0]!.title, "Sums by hand");
  assert.deepEqual(given.benchmarks[0]!.published[0]!.source, "a note");

  benchmarks.register(sums);
  assert.equal((await evaluate(randomTextPolicy(), "sums", options)).samples.length, 1);
  await assert.rejects(evaluate(randomTextPolicy(), "smus", options), /did you mean sums\?/);
});

test("a reward of one's own", async () => {
  const short = await definitionIn<RewardDefinition>(
    "short",
    `{
      name: "short",
      words: "few letters",
      reward: ({ response }) => 1 / (1 + response.length),
    }`,
  );
  await assert.rejects(loadReward("short"), /one of deep_research, .*, naive, got short/);
  rewards.add(short);
  assert.equal(await loadReward("short"), short.reward);
  await assert.rejects(loadReward("shrot"), /naive, short, got shrot; did you mean short\?/);
});

test("a call dialect of one's own, for rollouts and for the server", async () => {
  const lisp = await definitionIn<CallDialect>(
    "lisp",
    `{
      name: "lisp",
      words: "a model of one's own",
      shownIn: (rendered) => rendered.includes("(call"),
      read: (text) =>
        [...text.matchAll(/\\(call (\\w+) "([^"]*)"\\)/g)].map((found) => ({
          name: found[1],
          arguments: { input: found[2] },
          from: found.index,
          to: found.index + found[0].length,
        })),
      begins: { anywhere: () => ["(call "] },
      ends: () => ['")'],
      opening: (name) => (name === undefined ? "(call " : "(call " + name + ' "'),
      unfinished: (begun) => JSON.stringify({ input: begun.replace(/"?\\)?$/, "") }),
    }`,
  );
  const end = "\u0001";
  const words = (messages: readonly { role: string; content: string }[], tools?: object) =>
    `${tools ? "Write (call NAME TEXT)." : ""}${messages.map((one) => `${one.role}:${one.content}${end}`).join("")}`;
  const tokenizer = Object.assign(new CodePointTokenizer(), {
    chat: (messages: readonly ChatMessage[], { tools }: ChatOptions = {}) => words(messages, tools),
  });
  const policy = new ScriptedPolicy(
    ({ turn }) => ({ text: turn === 0 ? `so (call echo "hi")${end}` : `done${end}` }),
    { tokenizer },
  );
  const echo: Tool = { name: "echo", tag: "echo", description: "", execute: (input) => input };
  const grow = (calls: RolloutOptions["calls"]) =>
    rollout(policy, { prompt: [{ role: "user", content: "?" }] }, { calls, tools: [echo] });
  const called = async (calls: RolloutOptions["calls"]) => {
    const tree = await grow(calls);
    return [tree.config.calls, tree.trajectories[0]!.toolCalls[0]!.text];
  };
  assert.deepEqual(await called(lisp), ["lisp", "hi"]);

  callDialects.add(lisp);
  assert.deepEqual(await called("lisp" as "json"), ["lisp", "hi"]);
  assert.deepEqual(await called("auto"), ["lisp", "hi"]);
  await assert.rejects(grow("lips" as "json"), /xml, lisp or an object.*did you mean "lisp"\?/);
  const request = chatBody.parse({
    model: "m",
    messages: [{ role: "user", content: "?" }],
    tools: [{ type: "function", function: { name: "echo" } }],
  });
  const { format } = await chatPrompt(tokenizer, request);
  const reader = new ToolReader(format!);
  assert.equal(reader.push('so (call echo "h'), "so ");
  reader.push('i")');
  assert.deepEqual(reader.end().calls, [{ name: "echo", arguments: '{"input":"hi"}' }]);
});

test("a RoPE scaling of one's own", async () => {
  const halved = await definitionIn<RopeScalingKind<{ type: "halved"; from: number }>>(
    "halved",
    `{
      name: "halved",
      words: "half as fast from a pair on",
      read: ({ number }) => ({ type: "halved", from: number("from_pair") }),
      write: ({ from }) => ({ from_pair: from }),
      rules: ({ from }) => [[from >= 0, "from must not be negative", from]],
      frequencies: (plain, { from }) => plain.map((f, i) => (i < from ? f : f / 2)),
    }`,
  );
  const path = join(folder, "halved");
  const sizes = { vocabSize: 30, hiddenSize: 8, intermediateSize: 12, layers: 1, heads: 1 };
  await saveModel(Model.init(sizes, 1), path);
  const file = join(path, "config.json");
  const config = JSON.parse(await readFile(file, "utf8")) as object;
  const given = { rope_type: "halved", from_pair: 2 };
  await writeFile(file, JSON.stringify({ ...config, rope_scaling: given }));
  await assert.rejects(loadModel(path), /rope scaling must be one of default, .*got "halved"/);
  ropeScalings.add(halved as unknown as RopeScalingKind<RopeScaling>);
  const loaded = await loadModel(path);
  const plain = ropeFrequencies({ ...loaded.config, ropeScaling: undefined });
  assert.deepEqual(
    ropeFrequencies(loaded.config),
    plain.map((f, i) => (i < 2 ? f : f / 2)),
  );
  await saveModel(loaded, path);
  const again = JSON.parse(await readFile(file, "utf8")) as { rope_scaling: object };
  assert.deepEqual(again.rope_scaling, given);
  await writeFile(file, JSON.stringify({ ...config, rope_scaling: { ...given, from_pair: -1 } }));
  await assert.rejects(loadModel(path), /ropeScaling.from must not be negative, got -1/);
});

test("a model architecture of one's own", async () => {
  const both = await definitionIn<Architecture>(
    "both",
    `{
      name: "both",
      words: "biases and norms at once",
      classes: { logits: "BothForCausalLM", value: "BothForTokenClassification" },
      qkvBias: true,
      qkNorm: true,
      arithmetic: { activation: "gelu_tanh", foundNorms: true, normOffset: 1 },
      keys: { attention_bias: true },
      readLayers: (keys, { layers }) => ({
        window: keys.number("reach", 5),
        windowed: Array.from({ length: layers }, () => true),
      }),
      writeLayers: ({ window }) => ({ reach: window }),
      pairsRows: false,
    }`,
  );
  const sizes = { vocabSize: 30, hiddenSize: 8, intermediateSize: 12, layers: 1, heads: 2 };
  const named = { ...sizes, family: "both" as "llama" };
  assert.throws(() => Model.init(named, 1), /family must be one of qwen2, .*got "both"/);
  const model = Model.init({ ...sizes, family: both, window: 3, windowed: [true] }, 1);
  const path = join(folder, "both");
  await saveModel(model, path);
  const config = JSON.parse(await readFile(join(path, "config.json"), "utf8")) as object;
  assert.deepEqual({ ...config, ...{ model_type: "both", attention_bias: true } }, config);
  const loaded = await loadModel(path);
  const weights = [...weightShapes(loaded.config).keys()];
  assert.equal(loaded.config.window, 3);
  assert.ok(weights.includes("model.layers.0.post_feedforward_layernorm.weight"));
  for (const part of ["q_proj.bias", "q_norm.weight"]) {
    assert.ok(weights.includes(`model.layers.0.self_attn.${part}`));
  }
  const { family, qkvBias, qkNorm } = Model.init(named, 1).config;
  assert.deepEqual([family, qkvBias, qkNorm], ["both", true, true]);
  await writeFile(
    join(path, "config.json"),
    JSON.stringify({ ...config, architectures: ["BothForCausalML"] }),
  );
  await assert.rejects(loadModel(path), /must be one of .*did you mean "BothForCausalLM"\?/);
});
