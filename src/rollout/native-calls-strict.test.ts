import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { advantages } from "../learn/advantages.js";
import { type BatchSequence, TrainingBatch } from "../learn/batch.js";
import { Learner } from "../learn/update/learner.js";
import { HfTokenizer } from "../model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../model/tokenizer/train-bpe.js";
import { Model } from "../model/transformer/transformer.js";
import { ModelPolicy } from "../policy/policy-from-model.js";
import { supportAt } from "../policy/token-sets.js";
import { score } from "../reward/score-trees.js";
import type { Tool } from "../tools/tool.js";
import { treesFromJsonl, treesToJsonl } from "./files/tree-jsonl.js";
import { treesFromParquet, treesToParquet } from "./files/tree-parquet.js";
import type { RolloutOptions } from "./options.js";
import { rollout } from "./rollout.js";

const chatTemplate =
  "{% if tools %}<tools>{{ tools | tojson }} <tool_call></tool_call>{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}</tool_call>{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
const files = trainBpe(['{"name": "add", "arguments": {"a": 1}}', '{"name": "mood"}'], {
  ...{ vocabSize: 300, chatTemplate, addedTokens: ["<tool_call>", "</tool_call>"] },
});
const tokenizer = new HfTokenizer(files);
const sizes = {
  ...{ vocabSize: tokenizer.vocabSize, hiddenSize: 16, intermediateSize: 24, layers: 1, heads: 2 },
  ...{ contextLength: 1024, initializerRange: 0.1 },
};
const fresh = () => Model.init(sizes, 7);

const seen: { tag: string; input: string }[] = [];
const tool = (tag: string, parameters: object): Tool => ({
  ...{ name: tag, tag, description: "A tool.", parameters },
  execute: (input) => (seen.push({ tag, input }), "42"),
});
const add = {
  type: "object",
  properties: { a: { type: "integer", minimum: 0, maximum: 99 }, b: { enum: ["x", "y"] } },
  required: ["a", "b"],
  additionalProperties: false,
};
const mood = { type: "object", properties: { of: { type: "string", maxLength: 3 } } };
const tools = [tool("add", add), tool("mood", { ...mood, additionalProperties: false })];
const schemas = { add, mood: tools[1]!.parameters! };

const grown = async (options: RolloutOptions = {}) =>
  rollout(
    new ModelPolicy(fresh(), tokenizer),
    { prompt: [{ role: "user", content: "?" }] },
    {
      ...{ n: 40, responseLength: 90, seed: 5, tools, calls: "hermes", strictCalls: true },
      ...{ callLimit: 2, quiet: true },
      ...options,
    },
  );

test("calls are of the schemas of their tools, whatever the model would write", async () => {
  seen.length = 0;
  const tree = await grown({ n: 60, responseLength: 300 });
  const ajv = new Ajv2020();
  let calls = 0;
  for (const { text, tool: called, kind } of tree.nodes) {
    if (kind !== "model") {
      if (called) assert.ok(called.ok, called.text);
      continue;
    }
    for (const [, inner] of text.matchAll(/<tool_call>([^]*?)<\/tool_call>/g)) {
      const call = JSON.parse(inner!) as { name: keyof typeof schemas; arguments: object };
      assert.ok(ajv.validate(schemas[call.name], call.arguments), inner);
      calls++;
    }
  }
  assert.ok(calls >= 3, `${calls} calls`);
  assert.ok(seen.length >= 1);
  assert.equal(tree.config.strictCalls, true);
  const free = await grown({ strictCalls: false });
  assert.equal(free.config.strictCalls, undefined);
  assert.ok(free.nodes.every(({ support }) => support === undefined));
});

test("a call that was begun goes on as it must, in a fork", async () => {
  const tree = await grown();
  const node = tree.nodes.find(
    ({ kind, text }) => kind === "model" && text.includes("<tool_call>"),
  )!;
  const [open] = tokenizer.encode("<tool_call>");
  const at = node.tokens.indexOf(open!) + 4;
  const forked = await tree.fork(node.id, { at, n: 4, seed: 2 });
  for (const { text } of forked.trajectories) {
    const [, inner] = /<tool_call>([^]*?)<\/tool_call>/.exec(text) ?? [];
    if (inner !== undefined) JSON.parse(inner);
    else assert.ok(text.includes("<tool_call>"));
  }
});

test("given tokens go through files, and are not trained on", async () => {
  const tree = await grown();
  const given = tree.nodes.filter(({ support }) => support?.given?.includes(1));
  assert.ok(given.length >= 3);
  for (const again of [
    treesFromJsonl(treesToJsonl([tree])),
    await treesFromParquet(await treesToParquet([tree])),
  ]) {
    assert.deepEqual(
      again[0]!.nodes.map(({ support }) => support),
      tree.nodes.map((n) => n.support),
    );
  }
  const bad = treesToJsonl([tree]).replace('"given":[0,', '"given":[7,');
  assert.throws(() => treesFromJsonl(bad), /support.given/);
  let listed = 0;
  for (const { support, lossMask, written, tokens } of tree.trajectories) {
    support?.given?.forEach((is, t) => {
      if (!is) return;
      assert.deepEqual([...supportAt(support, t)], [tokens[t]]);
      assert.deepEqual([written[t], lossMask[t]], [1, 0]);
    });
    support?.logprobs.forEach((_, t) => {
      if (lossMask[t] && supportAt(support, t).length > 0) listed++;
    });
  }
  assert.ok(listed > 10, "tokens with several alternatives have their support");
});

async function sequences(): Promise<BatchSequence[]> {
  let n = 0;
  return [...advantages(await score(await grown(), () => Math.sin(n++))).trajectories];
}

async function weightsAfter(
  change: (sequence: BatchSequence, t: number) => void,
): Promise<number[]> {
  const all = await sequences();
  for (const sequence of all) {
    sequence.advantages = sequence.advantages.slice();
    sequence.trajectory.support?.given?.forEach((given, t) => given && change(sequence, t));
  }
  const model = fresh();
  await new Learner(model, { learningRate: 1e-2 }).update(new TrainingBatch(all, "grpo"));
  return [...model.weights.values()].flatMap((w) => [...(w.dataSync() as Float32Array)]);
}

test("the gradient does not depend on given tokens: whatever they are said to have earned, no bit changes", async () => {
  const plain = await weightsAfter(() => undefined);
  const changed = await weightsAfter((sequence, t) => {
    sequence.advantages[t] = 1000;
    sequence.trajectory.logprobs[t] = -30;
  });
  assert.deepEqual(changed, plain);
  // Were they in the loss, they would count.
  const counted = await weightsAfter((sequence, t) => {
    sequence.advantages[t] = 1000;
    sequence.trajectory.lossMask[t] = 1;
    sequence.trajectory.support!.offsets[0] = 0;
  });
  assert.notDeepEqual(counted, plain);
});

test("log-probabilities over what a constraint left are those of the sampler", async () => {
  const all = await sequences();
  const model = fresh();
  const learner = new Learner(model, { learningRate: 1e-2 });
  const prepared = await learner.prepare(all);
  let compared = 0;
  for (const { trajectory, oldLogprobs } of prepared) {
    const { support, lossMask, logprobs } = trajectory;
    lossMask.forEach((trained, t) => {
      if (!trained) return;
      const over =
        support && supportAt(support, t).length > 0 ? support.logprobs[t]! : logprobs[t]!;
      assert.ok(Math.abs(oldLogprobs[t]! - over) < 1e-3);
      compared++;
    });
  }
  assert.ok(compared > 50);
});

test("what cannot be held is refused before anything is written", async () => {
  const unheld = { type: "object", properties: { a: { uniqueItems: true } } };
  await assert.rejects(
    grown({ tools: [tool("odd", unheld)] }),
    /Cannot hold the schema of function odd: uniqueItems must be left out/,
  );
  await assert.rejects(grown({ calls: "tags" }), /strictCalls must go with .* JSON .* got tags/);
});
