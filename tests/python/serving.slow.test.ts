// The remote policy against a server that others wrote: `transformers serve` on the tiny model. Needs a
// Python with transformers[serving] (ARPO_LAB_PYTHON) and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { tasks } from "../../src/tasks/tasks/index.js";
import { world } from "../../src/tasks/tasks/world.js";
import { SafetensorsFile } from "../../src/model/files/safetensors-file.js";
import { writeSafetensors, type TensorSource } from "../../src/model/files/write-safetensors.js";
import { Policy } from "../../src/policy/policies.js";
import { Random } from "../../src/base/random/random.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { taskTools } from "../../src/tasks/task-tools.js";
import { until } from "../until.js";
import { freePort } from "../free-port.js";

const python = process.env.ARPO_LAB_PYTHON;
const tiny = fileURLToPath(new URL("../../../data/models/tiny", import.meta.url));

/** What keeps the test from running, if anything does. */
function missing(): string | false {
  if (python === undefined) return "ARPO_LAB_PYTHON names no Python";
  const needs = ["torch", "transformers", "fastapi", "uvicorn", "openai", "accelerate"];
  const { status } = spawnSync(python, ["-c", `import ${needs.join(", ")}`]);
  return status !== 0 && `${python} has no transformers[serving]`;
}

/**
 * The tiny model as a Llama with biases, the same function. Of a Qwen2 folder transformers 5 makes a
 * tokenizer of its own, which splits numbers into digits whatever tokenizer.json says.
 */
async function asLlama(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-serving-"));
  t.after(() => rm(folder, { recursive: true }));
  await cp(tiny, folder, { recursive: true });
  const config = JSON.parse(await readFile(join(tiny, "config.json"), "utf8")) as object;
  const llama = { architectures: ["LlamaForCausalLM"], model_type: "llama", mlp_bias: false };
  await writeFile(
    join(folder, "config.json"),
    JSON.stringify({ ...config, ...llama, attention_bias: true }),
  );
  const weights = await SafetensorsFile.open(join(tiny, "model.safetensors"));
  const sources: TensorSource[] = [];
  for (const [name, { shape }] of weights.tensors) {
    const values = await weights.read(name);
    sources.push({ name, shape, values: () => values });
    // Where a Llama has biases, its output projection has one too.
    if (!name.endsWith("q_proj.bias")) continue;
    const none = new Float32Array(shape[0]!);
    sources.push({ name: name.replace("q_proj", "o_proj"), shape, values: () => none });
  }
  await weights.close();
  await writeSafetensors(join(folder, "model.safetensors"), sources);
  return folder;
}

/** Starts `transformers serve` on a model and gives its address. */
async function startServer(t: TestContext, folder: string): Promise<string> {
  const port = await freePort();
  const main = "from transformers.cli.transformers import main; main()";
  const where = ["--device", "cpu", "--host", "127.0.0.1", "--port", String(port)];
  const child = spawn(python!, ["-c", main, "serve", folder, ...where], {
    // Of so small a model one thread is the fastest.
    env: { ...process.env, HF_HUB_OFFLINE: "1", OMP_NUM_THREADS: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  const ready = async (): Promise<boolean> => {
    assert.equal(child.exitCode, null, `the server ended: ${said}`);
    const health = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
    return health?.ok === true;
  };
  await until(ready, "transformers serve to answer", 300_000);
  return `http://127.0.0.1:${port}/v1`;
}

test("RemotePolicy drives transformers serve, tree and tools included", async (t) => {
  const skip = missing();
  if (skip !== false) return t.skip(skip);
  const folder = await asLlama(t);
  const url = await startServer(t, folder);
  const remote = await Policy.remote(url, {
    model: folder,
    tokenizer: folder,
    contextLength: 512,
    dialect: "transformers",
    // The server seeds one generator for all its requests, so only one at a time is repeatable.
    concurrency: 1,
  });
  assert.match(remote.entropyMeaning, /not known yet/);
  const local = await Policy.load(tiny);
  t.after(() => {
    local.dispose();
  });
  await using tools = taskTools(world);
  const { train } = tasks.mixed({ seed: 7, train: 2, test: 1 });

  // Greedy: the same weights in another engine write the same trees as our own.
  const greedy = { n: 1, tools, seed: 1, sampling: { temperature: 0 }, responseLength: 200 };
  const theirs = await rollout(remote, train, greedy);
  const ours = await rollout(local, train, greedy);
  const texts = (trees: typeof ours) =>
    trees.map(({ selected: trajectories }) => trajectories.map(({ text, end }) => ({ text, end })));
  assert.deepEqual(texts(theirs), texts(ours));
  assert.ok(theirs.every(({ selected: trajectories }) => trajectories[0]!.toolCalls.length > 0));

  // Sampled: a whole tree with branches, refills and tools, and the same one again.
  const options = {
    ...rolloutPresets.arpo,
    ...{ n: 4, initialRollouts: 2, branchProbability: 1, tools, seed: 3, responseLength: 160 },
  };
  const tree = await rollout(remote, train[0]!, options);
  assert.equal(tree.trajectories.length, 4);
  assert.ok(tree.trajectories.some((row) => row.kind === "branch"));
  assert.ok(tree.selected.some(({ toolCalls }) => toolCalls.some((call) => call.ok)));
  assert.ok(new Set(tree.selected.map(({ text }) => text)).size > 1, "nothing was sampled");
  for (const { tokens, text } of tree.selected) {
    assert.equal(remote.tokenizer.decode(tokens, { skipSpecial: true }), text);
  }
  const again = await rollout(remote, train[0]!, options);
  assert.deepEqual(texts([again]), texts([tree]));

  // It gives no log-probs; the policy says what that does to entropy.
  assert.ok(tree.selected.every(({ logprobs }) => logprobs.some(Number.isNaN)));
  assert.ok(tree.nodes.every(({ entropy }) => entropy === undefined || entropy === 0));
  assert.match(remote.entropyMeaning, /gives no log-probs, so every entropy is 0/);
});

test("RemotePolicy samples with transformers serve as asked, not as the model's config says", async (t) => {
  const skip = missing();
  if (skip !== false) return t.skip(skip);
  const folder = await asLlama(t);
  const policy = await Policy.remote(await startServer(t, folder), {
    model: folder,
    tokenizer: folder,
    contextLength: 512,
    dialect: "transformers",
    api: "chat",
    concurrency: 1,
  });
  const session = policy.session();
  const messages = [{ role: "user", content: "What is 12 + 34?" }];
  const prompt = policy.tokenizer.chat(messages, { addGenerationPrompt: true });
  const write = async (seed: number, sampling: object) => {
    const row = session.open(policy.tokenizer.encode(prompt), { messages });
    const stop = ["</python>"];
    const random = Random.from(seed);
    const segment = await session.generate(row, { maxTokens: 60, stop, random, ...sampling });
    assert.ok(segment.stop === "</python>" || segment.finish !== "stop");
    return policy.tokenizer.decode(segment.tokens);
  };
  const seeds = [1, 2, 3, 4];
  const at = async (sampling: object) => {
    const found = new Set<string>();
    for (const seed of seeds) found.add(await write(seed, sampling));
    return found.size;
  };
  assert.equal(await at({ temperature: 0 }), 1);
  assert.equal(await at({ temperature: 1, topK: 1 }), 1);
  assert.ok((await at({ temperature: 1.5 })) > 1);
  // Ids that are not allowed are never written.
  const allowedIds = policy.tokenizer.encode("0123456789");
  assert.match(await write(1, { temperature: 1, allowedIds }), /^[0-9]+(<|end|>)?$/);
});

test("RemotePolicy refuses a server that cuts text into other tokens", async (t) => {
  const skip = missing();
  if (skip !== false) return t.skip(skip);
  // Here numbers come apart into digits; the server has tokens for pairs of them.
  const other = await mkdtemp(join(tmpdir(), "arpo-serving-"));
  t.after(() => rm(other, { recursive: true }));
  await cp(join(tiny, "tokenizer_config.json"), join(other, "tokenizer_config.json"));
  const text = await readFile(join(tiny, "tokenizer.json"), "utf8");
  const parts = JSON.parse(text) as { added_tokens: { content: string }[] };
  parts.added_tokens = parts.added_tokens.filter(({ content }) => !/^\d\d$/.test(content));
  await writeFile(join(other, "tokenizer.json"), JSON.stringify(parts));
  const options = { model: tiny, tokenizer: other, contextLength: 512 };
  const url = await startServer(t, tiny);
  const policy = await Policy.remote(url, { ...options, dialect: "transformers" });
  const session = policy.session();
  const row = session.open(policy.tokenizer.encode("1779 times 1234"));
  await assert.rejects(
    session.generate(row, { maxTokens: 4, random: Random.from(1) }),
    /its tokenizer must be the one given, which makes \d+ tokens of a prompt, got \d+/,
  );
});
