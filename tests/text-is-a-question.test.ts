import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate } from "../src/eval/evaluate.js";
import { exampleOfCompletion } from "../src/learn/sft/encode.js";
import { HfTokenizer } from "../src/model/tokenizer/hf-tokenizer.js";
import { trainBpe } from "../src/model/tokenizer/train-bpe.js";
import { Model } from "../src/model/transformer/transformer.js";
import { ModelPolicy } from "../src/policy/policy-from-model.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import type { RolloutTree } from "../src/rollout/rollout-tree.js";
import { ScriptedPolicy } from "../src/rollout/testing/scripted-policy.js";
import { trainOn } from "../src/run/trainer/train-cells.js";

const tokenizer = new HfTokenizer(trainBpe(["6*7?"], { vocabSize: 300 }));
const policy = new ScriptedPolicy(() => ({ text: "42" }), { tokenizer });
const chat = [{ role: "user", content: "6*7?" }];
const laid = tokenizer.chat(chat, { addGenerationPrompt: true });
const raw = { prompt: "6*7?", raw: true };

test("text is a question in generate, rollout, evaluate and score: alone, as a task's prompt, as a chat", async () => {
  for (const asked of ["6*7?", { prompt: "6*7?" }, { prompt: chat }]) {
    const tree = (await rollout(policy, asked)) as RolloutTree;
    assert.equal(tree.prompt.text, laid);
    assert.equal((await policy.generate(asked, { maxTokens: 1 })).prompt, laid);
  }
  assert.equal((await rollout(policy, raw)).prompt.text, "6*7?");
  assert.equal((await policy.generate(raw, { maxTokens: 1 })).prompt, "6*7?");
  const read: [string, number][] = [];
  const tasks = [{ prompt: "6*7?" }, { prompt: chat }, raw];
  const { scored } = await evaluate(policy, tasks, {
    reward: ({ prompt }) => read.push([prompt.question, prompt.messages.length]),
  });
  assert.deepEqual(read, [
    ["6*7?", 1],
    ["6*7?", 1],
    ["6*7?", 0],
  ]);
  assert.deepEqual(
    scored.trees.map(({ prompt }) => prompt.text),
    [laid, laid, "6*7?"],
  );
  const seen = await score(await rollout(policy, raw), ({ prompt }) =>
    Number(prompt.text === "6*7?"),
  );
  assert.equal(seen.mean, 1);
});

test("a task may have fields of its own, a name among them", async () => {
  const named = [{ prompt: "6*7?", name: "sum", title: "Sums" }];
  const { results } = await evaluate(policy, named, { reward: () => 1 });
  assert.deepEqual([results.length, results[0]!.task], [1, named[0]]);
});

test("text is a question in trainOn and fineTune; with raw it is read as it is", async () => {
  const sizes = { hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2, contextLength: 128 };
  const model = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 1);
  const own = new ModelPolicy(model, tokenizer);
  const read: string[] = [];
  const { steps } = await trainOn(own, [{ prompt: "6*7?" }, { prompt: chat }, raw], {
    ...{ preset: "grpo", steps: 1, prompts: 3, n: 2, live: false, tools: [], responseLength: 4 },
    reward: ({ prompt }) => read.push(prompt.text),
  });
  assert.deepEqual([...new Set(read)].sort(), ["6*7?", laid].sort());
  const shared = steps[0]!.trees.filter(({ prompt }) => prompt.text === laid);
  assert.equal(shared.length, 2);
  own.dispose();
  const completion = "42";
  const [asked, bare] = [{ prompt: "6*7?" }, raw].map(
    (one) => exampleOfCompletion({ ...one, completion }, tokenizer).ids,
  );
  assert.equal(tokenizer.decode(asked!), `${laid}42<|im_end|>`);
  assert.equal(tokenizer.decode(bare!), "6*7?42<|im_end|>");
});

test("raw is a truth value, and of text alone", async () => {
  const wrong = (task: object) => rollout(policy, task as { prompt: string });
  await assert.rejects(wrong({ prompt: "?", raw: 1 }), /raw must be true or false, got 1/);
  const two = [...chat, ...chat];
  await assert.rejects(wrong({ prompt: two, raw: true }), /must be text where raw is true/);
});
