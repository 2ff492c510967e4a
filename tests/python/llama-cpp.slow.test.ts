// The remote policy against llama.cpp's own server, which gives log-probs: the tiny model as GGUF. Needs a
// Python with xllamacpp (ARPO_LAB_PYTHON) and is skipped, saying so, where there is none.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { convertCheckpoint } from "../../src/interop/convert/convert-checkpoint.js";
import { tasks } from "../../src/tasks/tasks/index.js";
import { world } from "../../src/tasks/tasks/world.js";
import { Policy } from "../../src/policy/policies.js";
import { Random } from "../../src/base/random/random.js";
import { rollout } from "../../src/rollout/rollout.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { taskTools } from "../../src/tasks/task-tools.js";
import { missing, serveGguf } from "./llama-cpp-server.js";

const tiny = fileURLToPath(new URL("../../../data/models/tiny", import.meta.url));

/** The tiny model as GGUF, served. llama.cpp has no way to cut numbers into pairs of digits as it does. */
async function serveTiny(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-llama-cpp-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "tiny.gguf");
  await convertCheckpoint(tiny, file, { pre: "qwen2" });
  return `${await serveGguf(t, file)}/v1`;
}

test("RemotePolicy drives llama.cpp's server: tokens, log-probs, trees", async (t) => {
  const skip = missing("xllamacpp");
  if (skip !== false) return t.skip(skip);
  const remote = await Policy.remote(await serveTiny(t), {
    model: "tiny",
    tokenizer: tiny,
    contextLength: 512,
    dialect: "llama.cpp",
  });
  const local = await Policy.load(tiny);
  t.after(() => {
    local.dispose();
  });

  // Greedy, token by token: the same ids with the same log-probs, up to its cache of halves.
  const prompt = local.tokenizer.encode(
    local.tokenizer.chat([{ role: "user", content: "What is 12 + 34?" }], {
      addGenerationPrompt: true,
    }),
  );
  const write = (policy: typeof remote | typeof local) => {
    const session = policy.session();
    const sampling = { temperature: 0, random: Random.from(1), stop: ["</python>"] };
    return session.generate(session.open(prompt), { maxTokens: 60, ...sampling });
  };
  const [theirs, ours] = [await write(remote), await write(local)];
  assert.deepEqual([...theirs.tokens], [...ours.tokens]);
  assert.equal(theirs.stop, "</python>");
  const known = [...theirs.logprobs].flatMap((logprob, i) => (Number.isNaN(logprob) ? [] : [i]));
  assert.ok(known.length >= theirs.tokens.length - 1, `${known.length} of ${theirs.tokens.length}`);
  for (const i of known) {
    const [a, b] = [theirs.logprobs[i]!, ours.logprobs[i]!];
    assert.ok(Math.abs(a - b) < 0.01, `token ${i}: ${a} there, ${b} here`);
  }
  assert.ok(known.some((i) => theirs.logprobs[i]! < -0.01));

  // Greedy trees with tools are the same trees.
  await using tools = taskTools(world);
  const { train } = tasks.mixed({ seed: 7, train: 2, test: 1 });
  const greedy = { n: 1, tools, seed: 1, sampling: { temperature: 0 }, responseLength: 200 };
  const texts = (trees: readonly RolloutTree[]) =>
    trees.map(({ selected: trajectories }) => trajectories.map(({ text, end }) => ({ text, end })));
  const answered = await rollout(remote, train, greedy);
  assert.deepEqual(texts(answered), texts(await rollout(local, train, greedy)));
  assert.ok(answered.every(({ selected: trajectories }) => trajectories[0]!.toolCalls.length > 0));

  // Sampled: a tree whose branches follow entropies that come from the server.
  const tree = await rollout(remote, train[0]!, {
    ...rolloutPresets.arpo,
    ...{ n: 4, initialRollouts: 2, branchProbability: 1, tools, seed: 3, responseLength: 160 },
  });
  assert.equal(tree.trajectories.length, 4);
  assert.ok(tree.trajectories.some((row) => row.kind === "branch"));
  assert.ok(tree.selected.some(({ toolCalls }) => toolCalls.some((call) => call.ok)));
  assert.ok(new Set(tree.selected.map(({ text }) => text)).size > 1, "nothing was sampled");
  assert.ok(tree.nodes.filter(({ entropy }) => entropy !== undefined && entropy > 0).length > 1);
  assert.match(remote.entropyMeaning, /sums over the 10 most likely tokens/);

  // Pairs of digits are tokens that were added, which its tokenizer finds as ours does.
  await assert.doesNotReject(remote.checkTokenizer());
});
