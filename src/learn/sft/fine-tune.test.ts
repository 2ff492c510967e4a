import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { Model } from "../../model/transformer/transformer.js";
import { trainBpe } from "../../model/tokenizer/train-bpe.js";
import { demonstrate } from "../../tasks/tasks/demonstrate.js";
import { naturalTasks } from "../../tasks/natural/index.js";
import { question } from "../../tasks/task.js";
import { Random } from "../../base/random/random.js";
import { NotAConversation, readConversation } from "./conversation.js";
import { loadDataset } from "./dataset-info.js";
import { encodeConversation, exampleOf, exampleOfCompletion, ignored, noteTags } from "./encode.js";
import { fineTune } from "./fine-tune.js";
import { SftTrainer, type SftOptions, type SftStep } from "./train.js";
import { temporaryFolder } from "../../../tests/temporary.js";

const tokenizer = new HfTokenizer(
  trainBpe(["alpha beta gamma"], { vocabSize: 300, addedTokens: ["<think>", "</think>"] }),
);

const chatTags = { messages: "messages", role: "role", content: "content" };

test("readConversation() takes OpenAI messages, other tags, and a seed file's result turns", () => {
  const messages = [
    { role: "system", content: "be brief" },
    { role: "user", content: "q" },
    { role: "assistant", content: "<search>x</search>" },
    { role: "tool", content: "found" },
    { role: "assistant", content: "a" },
  ];
  const read = readConversation(
    { messages },
    {
      ...{ messages: "messages", role: "role", content: "content" },
      ...{ user: "user", assistant: "assistant", observation: "tool" },
    },
  );
  assert.equal(read.system, "be brief");
  assert.equal(read.turns[1]!.text, "<search>x</search> <result>\nfound\n</result>a");
  const seed = {
    conversations: [
      { from: "user", value: "q" },
      { from: "assistant", value: "<python>1</python>" },
      { from: "user", value: "<result>1</result>" },
      { from: "assistant", value: "done" },
    ],
  };
  assert.equal(readConversation(seed).turns.length, 2);
  // LLaMA-Factory itself would skip it: the speakers are not its own.
  assert.throws(() => readConversation(seed, {}, { strict: true }), NotAConversation);
});

test("fineTune() takes chats, and says which one it cannot learn from and why", async () => {
  const sizes = { hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
  const model = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 1);
  const user = { role: "user", content: "alpha?" };
  const messages = [user, { role: "assistant", content: "beta" }];
  const { steps } = await fineTune({ model, tokenizer }, [{ messages }], { epochs: 1 });
  const { ids, labels } = encodeConversation(readConversation({ messages }, chatTags), tokenizer);
  const same = Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 1);
  const other = await fineTune({ model: same, tokenizer }, [{ ids, labels }], { epochs: 1 });
  assert.equal(steps[0]!.loss, other.steps[0]!.loss);
  await assert.rejects(
    fineTune({ model, tokenizer }, [{ messages }, { messages: [user] }]),
    /^TypeError: Cannot fine-tune on chat 1: user and assistant must alternate and end with the assistant, got user/,
  );
  model.dispose();
  same.dispose();
});

test("a demonstration is learned behind the prompt that a rollout asks with: its system message and its question", async () => {
  const { train, expert } = naturalTasks.pages({ train: 1, test: 1 });
  const [task] = train as [(typeof train)[0]];
  const shown = await demonstrate(task, expert, () => Promise.resolve(""), {
    random: Random.from(1),
  });
  const { ids, labels } = exampleOf(shown, tokenizer);
  const prompt = ids.slice(
    0,
    labels.findIndex((label) => label !== ignored),
  );
  const asked = tokenizer.chat(task.prompt, { addGenerationPrompt: true });
  assert.ok(asked.includes(question(task)));
  assert.deepEqual(prompt, tokenizer.encode(asked));
  const odd = { ...task, prompt: [...task.prompt, { role: "tool" as const, content: "x" }] };
  assert.throws(
    () => exampleOf({ ...shown, task: odd }, tokenizer),
    /Cannot encode a demonstration: .* got tool/,
  );
  for (const wrong of [[], "a text", undefined, [null], [{ role: "user" }]]) {
    assert.throws(
      () => exampleOf({ ...shown, task: { ...task, prompt: wrong as never } }, tokenizer),
      /^TypeError: Cannot encode a demonstration: task.prompt must be a list of messages/,
    );
  }
});

test("loadDataset() skips rows that do not alternate, says why, and names a missing set", async () => {
  const dir = temporaryFolder("arpo-lab-sft");
  const info = {
    toy: { file_name: "toy.jsonl", formatting: "sharegpt", columns: { messages: "conversations" } },
    plain: { file_name: "plain.json" },
  };
  await writeFile(join(dir, "dataset_info.json"), JSON.stringify(info));
  const rows = [
    {
      conversations: [
        { from: "human", value: "q" },
        { from: "gpt", value: "a" },
      ],
      system: "s",
    },
    { conversations: [{ from: "human", value: "q" }] },
    {
      conversations: [
        { from: "user", value: "q" },
        { from: "gpt", value: "a" },
      ],
    },
  ];
  await writeFile(join(dir, "toy.jsonl"), rows.map((r) => JSON.stringify(r)).join("\n"));
  await writeFile(join(dir, "plain.json"), JSON.stringify([{ instruction: "q", output: "a" }]));
  const { conversations, skipped } = await loadDataset("toy, plain", dir);
  assert.equal(conversations.length, 2);
  assert.equal(conversations[0]!.system, "s");
  assert.deepEqual(Object.values(skipped), [1, 1]);
  await assert.rejects(loadDataset("tooy", dir), /must have tooy .* did you mean toy\?/);
});

test("encodeConversation() labels only what the model writes, in every turn", () => {
  const turns = ["alpha", "beta", "gamma", "<think>alpha</think>beta"].map((text, i) => ({
    role: i % 2 ? ("assistant" as const) : ("user" as const),
    text,
  }));
  const { ids, labels } = encodeConversation({ system: "s", turns }, tokenizer);
  const learned = tokenizer.decode(ids.filter((_, i) => labels[i] !== ignored));
  assert.equal(learned, "beta<|im_end|><think>alpha</think>beta<|im_end|>");
  // Everything together is what the chat template writes, but for the end behind the last token.
  const whole = tokenizer.chat([
    { role: "system", content: "s" },
    ...turns.map((t) => ({ role: t.role, content: t.text })),
  ]);
  assert.ok(whole.startsWith(tokenizer.decode(ids, { skipSpecial: false })));
});

test("encodeConversation() can learn result blocks and cuts at the cut-off", () => {
  const turns = [
    { role: "user" as const, text: "q" },
    { role: "assistant" as const, text: "alpha <result>\nbeta\n</result>" },
  ];
  const open = encodeConversation({ turns }, tokenizer, { maskResults: false });
  assert.ok(open.labels.filter((l) => l !== ignored).length > 3);
  assert.deepEqual(
    open.labels.filter((l) => l !== ignored),
    open.ids.slice(-open.labels.filter((l) => l !== ignored).length),
  );
  assert.equal(encodeConversation({ turns }, tokenizer, { cutoff: 4 }).ids.length, 4);
});

const sizes = { vocabSize: 12, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const examples = Array.from({ length: 7 }, (_, i) => ({
  ids: [1, 2 + (i % 5), 3, 4 + (i % 3)],
  labels: [ignored, 2 + (i % 5), 3, 4 + (i % 3)],
}));

async function run(options: SftOptions, model = Model.init(sizes, 1)) {
  const trainer = new SftTrainer(model, examples, options);
  const steps: SftStep[] = [];
  for await (const step of trainer) steps.push(step);
  return { trainer, steps, model };
}

test("SftTrainer gives the same step whether its rows are accumulated or taken at once", async () => {
  const once = await run({ batchSize: 6, epochs: 2 });
  const twice = await run({ batchSize: 2, accumulation: 3, epochs: 2 });
  once.steps.forEach((step, i) => {
    assert.ok(Math.abs(step.loss - twice.steps[i]!.loss) < 1e-5);
    assert.equal(step.tokens, twice.steps[i]!.tokens);
  });
});

test("SftTrainer gives the same step where beginnings are shared, and whatever goes through together", async () => {
  const whole = await run({ batchSize: 6, epochs: 2 });
  for (const options of [
    { sharedPrefixes: true },
    { maxTokensPerPass: 5 },
    { sharedPrefixes: true, maxTokensPerPass: 7 },
  ]) {
    const other = await run({ batchSize: 6, epochs: 2, evaluation: examples, ...options });
    assert.equal(other.steps.length, whole.steps.length);
    other.steps.forEach(({ loss, gradientNorm, tokens }, i) => {
      const step = whole.steps[i]!;
      assert.ok(Math.abs(loss - step.loss) < 1e-5, `${loss} and ${step.loss}`);
      assert.ok(Math.abs(gradientNorm - step.gradientNorm) < 1e-4);
      assert.equal(tokens, step.tokens);
    });
    const held = await whole.trainer.evaluate(examples);
    assert.ok(Math.abs(other.steps.at(-1)!.evalLoss! - held) < 1e-4);
  }
});

test("SftTrainer ends after `steps`, which had another name", async () => {
  assert.equal((await run({ batchSize: 2, epochs: 2, steps: 2 })).steps.length, 2);
  await assert.rejects(run({ maxSteps: 2 } as SftOptions), {
    message: "Cannot fine-tune: every option must be known, got maxSteps; did you mean steps?",
  });
});

test("SftTrainer resumed gives the same bytes as never having stopped", async () => {
  const options: SftOptions = { batchSize: 2, epochs: 4, warmupRatio: 0.2, seed: 3 };
  const whole = await run(options);
  const model = Model.init(sizes, 1);
  const first = new SftTrainer(model, examples, options);
  const steps: SftStep[] = [];
  for await (const step of first) {
    steps.push(step);
    if (step.step === 4) break;
  }
  const resumed = await run({ ...options, resume: await first.state() }, model);
  assert.deepEqual([...steps, ...resumed.steps], whole.steps);
  for (const [name, weight] of whole.model.weights) {
    assert.deepEqual(model.weights.get(name)!.dataSync(), weight.dataSync(), name);
  }
});

test("SftTrainer measures held-out loss, stops when told and refuses nothing to learn", async () => {
  const { steps } = await run({ batchSize: 4, epochs: 4, evaluation: examples, evalEvery: 2 });
  assert.deepEqual(
    steps.map((s) => s.evalLoss !== undefined),
    [false, true, false, true],
  );
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(run({ signal: controller.signal }), { name: "AbortError" });
  const empty = [{ ids: [1, 2], labels: [ignored, ignored] }];
  assert.throws(() => new SftTrainer(Model.init(sizes, 1), empty), /got 1 without/);
});

test("a prompt and its completion are learned as the chat of both; raw text without the template", () => {
  const completion = "<search>x</search> <result>\nfound\n</result>beta";
  const messages = [
    { role: "user", content: "alpha?" },
    { role: "assistant", content: completion },
  ];
  const whole = encodeConversation(readConversation({ messages }, chatTags), tokenizer);
  const [user, answer] = messages as [(typeof messages)[0], (typeof messages)[0]];
  for (const given of [
    { prompt: "alpha?", completion },
    { prompt: [user], completion },
    { prompt: "alpha?", completion: [answer] },
  ]) {
    assert.deepEqual(exampleOfCompletion(given, tokenizer), whole);
  }
  const raw = exampleOfCompletion({ prompt: "alpha?", raw: true, completion: "beta" }, tokenizer);
  const asked = tokenizer.encode("alpha?");
  assert.deepEqual(raw.ids, [...asked, ...tokenizer.encode("beta"), tokenizer.eosId]);
  assert.deepEqual(
    raw.labels.slice(0, asked.length),
    asked.map(() => ignored),
  );
});

test("a tokenizer is known to call by tags once its model has learned to, and says so when it is saved", async () => {
  const plain = new HfTokenizer({ ...tokenizer.files, config: { ...tokenizer.files.config } });
  delete plain.files.config.arpo_lab;
  assert.deepEqual([plain.knowsTags, tokenizer.knowsTags], [false, true]);
  const encoded = (text: string) =>
    exampleOfCompletion({ prompt: "alpha?", completion: text }, plain);
  noteTags([encoded("beta")], plain);
  assert.equal(plain.knowsTags, false);
  noteTags([encoded("beta"), encoded("<search>x</search> <result>\ny\n</result>beta")], plain);
  assert.equal(plain.knowsTags, true);
  const folder = temporaryFolder("arpo-lab-tags");
  await plain.save(folder);
  assert.equal((await HfTokenizer.load(folder)).knowsTags, true);
});
