import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ChatTemplate } from "./chat-template.js";
import { HfTokenizer } from "./hf-tokenizer.js";
import { trainBpe } from "./train-bpe.js";

const folder = await mkdtemp(join(tmpdir(), "arpo-tokenizer-"));
after(() => rm(folder, { recursive: true }));

/** What the Rust library `tokenizers` gives; made by tools/fixtures/make_models.py. */
const expected = JSON.parse(await readFile("tests/fixtures/tokenizer/expected.json", "utf8")) as {
  corpus: string[];
  vocab_size: number;
  merges: [string, string][];
  encoded: { text: string; ids: number[] }[];
};
const files = trainBpe(expected.corpus, {
  vocabSize: expected.vocab_size + 5,
  addedTokens: ["<search>", "</search>"],
});

test("trainBpe() learns the merges that the library `tokenizers` learns", () => {
  // The library was trained without special tokens, so none of the corpus may be one here.
  const plain = trainBpe(expected.corpus, {
    vocabSize: expected.vocab_size + 1,
    specialTokens: ["<|end|>"],
  });
  assert.deepEqual((plain.tokenizer.model as { merges: unknown }).merges, expected.merges);
});

test("HfTokenizer.encode() gives the ids of the library `tokenizers`, and decode() the text", () => {
  const plain = new HfTokenizer(
    trainBpe(expected.corpus, { vocabSize: expected.vocab_size + 1, specialTokens: ["<|end|>"] }),
  );
  for (const { text, ids } of expected.encoded) {
    assert.deepEqual(plain.encode(text), ids, JSON.stringify(text));
    assert.equal(plain.decode(ids), text);
  }
});

test("HfTokenizer recognises special and added tokens, and leaves out only the special ones", () => {
  const tokenizer = new HfTokenizer(files);
  assert.equal(tokenizer.vocabSize, expected.vocab_size + 5);
  const [pad, start, end, open, close] = Array.from(
    { length: 5 },
    (_, i) => tokenizer.vocabSize - 5 + i,
  );
  assert.deepEqual([tokenizer.padId, tokenizer.eosId], [pad, end]);
  const ids = tokenizer.encode("<search>é</search><|im_end|>");
  assert.deepEqual([ids[0], ids.at(-2), ids.at(-1)], [open, close, end]);
  assert.equal(tokenizer.encode("<|im_start|>")[0], start);
  assert.equal(tokenizer.decode(ids, { skipSpecial: true }), "<search>é</search>");
  assert.equal(tokenizer.decode(Int32Array.from(ids)), "<search>é</search><|im_end|>");
  assert.equal(tokenizer.decode([]), "");
  assert.throws(() => tokenizer.decode([tokenizer.vocabSize]), /id must be one of .* got 605/);
  assert.throws(() => tokenizer.decode([-1]), RangeError);
  assert.throws(() => tokenizer.decode([0.5]), RangeError);
});

test("HfTokenizer.encode() adds no token that a post-processor would", () => {
  // As Llama 3 has it: every text is to begin with a special token.
  const begin = { id: "<|im_start|>", ids: [601], tokens: ["<|im_start|>"] };
  const processed = new HfTokenizer({
    config: files.config,
    tokenizer: {
      ...files.tokenizer,
      post_processor: {
        type: "TemplateProcessing",
        single: [
          { SpecialToken: { id: "<|im_start|>", type_id: 0 } },
          { Sequence: { id: "A", type_id: 0 } },
        ],
        pair: [],
        special_tokens: { "<|im_start|>": begin },
      },
    },
  });
  assert.deepEqual(processed.encode("the fox"), new HfTokenizer(files).encode("the fox"));
});

test("HfTokenizer.load() undoes save() and reads end tokens and templates from their files", async () => {
  const tokenizer = new HfTokenizer({
    ...files,
    chatTemplate: "{{ eos_token }}{{ messages|length }}",
  });
  await tokenizer.save(folder);
  await writeFile(join(folder, "config.json"), JSON.stringify({ eos_token_id: 1 }));
  assert.deepEqual((await HfTokenizer.load(folder)).eosIds, [tokenizer.eosId, 1]);
  await writeFile(join(folder, "generation_config.json"), JSON.stringify({ eos_token_id: [2, 3] }));
  const loaded = await HfTokenizer.load(folder);
  assert.deepEqual(loaded.eosIds, [tokenizer.eosId, 2, 3]);
  assert.deepEqual(loaded.encode("the fox"), tokenizer.encode("the fox"));
  assert.equal(loaded.chat([{ role: "user", content: "hi" }]), "<|im_end|>1");
});

test("HfTokenizer says what is missing or broken", async () => {
  const empty = await mkdtemp(join(folder, "empty-"));
  await assert.rejects(HfTokenizer.load(empty), /tokenizer.json must be readable, got ENOENT/);
  await writeFile(join(empty, "tokenizer.json"), "{");
  await assert.rejects(HfTokenizer.load(empty), /tokenizer.json must be JSON/);
  await writeFile(join(empty, "tokenizer.json"), "{}");
  await assert.rejects(HfTokenizer.load(empty), /tokenizer_config.json must be readable/);
  await writeFile(join(empty, "tokenizer_config.json"), "[]");
  await assert.rejects(HfTokenizer.load(empty), /tokenizer_config.json must hold an object/);
  await writeFile(join(empty, "tokenizer_config.json"), "{}");
  await assert.rejects(HfTokenizer.load(empty), /tokenizer.json must describe one/);
  const { tokenizer, config } = files;
  const made = (change: object) => new HfTokenizer({ tokenizer, config: { ...config, ...change } });
  assert.throws(
    () => new HfTokenizer({ ...files, eosIds: [9999] }),
    /an end token must be one of .* got 9999/,
  );
  assert.throws(() => made({ eos_token: null }), /must name an end token, got none/);
  assert.throws(() => made({ eos_token: "<end>" }), /eos_token must be in .* got "<end>"/);
  assert.throws(() => made({ chat_template: null }).chat([]), /must have a chat template/);
  assert.throws(() => made({ chat_template: "{% if" }), /chat template: it must be Jinja/);
});

test("HfTokenizer knows which ids of its vocabulary are holes", () => {
  const model = files.tokenizer.model as { vocab: Record<string, number> };
  const { a, ...vocab } = model.vocab;
  const holed = new HfTokenizer({
    config: files.config,
    tokenizer: { ...files.tokenizer, model: { ...model, vocab: { ...vocab, aaaa: 700 } } },
  });
  assert.equal(holed.vocabSize, new HfTokenizer(files).vocabSize);
  assert.throws(() => holed.decode([a!]), /id must be one of .* got 64/);
  assert.throws(() => holed.decode([650]), RangeError);
});

test("HfTokenizer.chat() picks the default of several templates and takes token objects", () => {
  const { tokenizer, config } = files;
  const named = new HfTokenizer({
    tokenizer,
    config: {
      ...config,
      eos_token: { content: "<|im_end|>", special: true },
      chat_template: [
        { name: "tool_use", template: "no" },
        { name: "default", template: "{{ messages[0].content }}{{ eos_token }}" },
      ],
    },
  });
  assert.equal(named.chat([{ role: "user", content: "yes" }]), "yes<|im_end|>");
});

test("ChatTemplate.render() reports what a template refuses", () => {
  const strict = new ChatTemplate("{{ raise_exception('roles must alternate') }}");
  assert.throws(() => strict.render([]), /Cannot render the chat: .* roles must alternate/);
});

test("trainBpe() is deterministic, keeps digits in runs and refuses impossible options", () => {
  const texts = ["a 12345 b 12345", "12345 12345"];
  assert.deepEqual(trainBpe(texts, { vocabSize: 280 }), trainBpe(texts, { vocabSize: 280 }));
  const pieces = (maxDigits: number) =>
    new HfTokenizer(trainBpe(texts, { vocabSize: 280, maxDigits })).encode("12345").length;
  assert.deepEqual([pieces(1), pieces(2), pieces(3)], [5, 3, 2]);
  const refused = (options: object, message: RegExp) =>
    assert.throws(() => trainBpe(texts, { vocabSize: 280, ...options }), message);
  refused({ vocabSize: 258 }, /vocabSize must be at least 259 .* got 258/);
  refused({ addedTokens: ["<a>", "<a>"] }, /must differ and not be empty, got "<a>"/);
  refused({ specialTokens: [] }, /there must be a special token/);
  refused({ eosToken: "<b>" }, /must be special, got <b>/);
  refused({ maxDigits: 0 }, /maxDigits must be a positive integer, got 0/);
});

test("trainBpe() stops where no pair is frequent enough", () => {
  const small = new HfTokenizer(trainBpe(["ab ab cd"], { vocabSize: 5000 }));
  // "ab", "Ġab" would need two: one line start and one with a space each, so only "ab" is frequent.
  assert.equal(small.vocabSize, 256 + 1 + 3);
});

test("HfTokenizer refuses ids far beyond its vocabulary, and takes holes", () => {
  const { tokenizer, config } = files;
  const withId = (id: unknown) =>
    new HfTokenizer({
      config,
      tokenizer: {
        ...tokenizer,
        added_tokens: [
          ...(tokenizer["added_tokens"] as object[]),
          { id, content: "<|far|>", special: true },
        ],
      },
    });
  for (const id of [4e9, 2 ** 31, -1, 1.5, "7"]) {
    assert.throws(() => withId(id), /ids in tokenizer\.json must be whole numbers below \d+ with/);
  }
  const holes = withId(1000);
  assert.deepEqual(holes.encode("<|far|>"), [1000]);
});

test("a template that knows tools as xml_tools gets them, and writes them as transformers does", () => {
  const template = new ChatTemplate(
    "{%- if xml_tools -%}{%- for tool in xml_tools[:] -%}{{ (tool | string) + '\\n' }}{%- endfor -%}{%- else -%}none{%- endif -%}",
  );
  const tools = [
    { name: "add", description: 'it\'s "so"', parameters: { a: [1, 2.5, true, null], b: "it's" } },
    { name: "line\n", parameters: {} },
  ];
  assert.equal(template.render([], { tools }), [
    `{'name': 'add', 'description': 'it\\'s "so"', 'parameters': {'a': [1, 2.5, True, None], 'b': "it's"}}`,
    "{'name': 'line\\n', 'parameters': {}}\n",
  ].join("\n")); // prettier-ignore
  assert.equal(template.render([]), "none");
  const doubling =
    "{%- set ns = namespace(x=[1]) -%}{%- for i in range(60) -%}{%- set ns.x = [ns.x, ns.x] -%}{%- endfor -%}{{ ns.x | string }}";
  assert.throws(
    () => new ChatTemplate(doubling).render([]),
    /Cannot render the chat: .* a template may write at most 8388608 characters/,
  );
});

test("Gemma 3's template lays out turns of user and model, and refuses others", async () => {
  const source = await readFile("tests/fixtures/chat-templates/gemma3.jinja", "utf8");
  const template = new ChatTemplate(source, { bos_token: "<bos>" });
  const chat = [
    { role: "system", content: "Be brief." },
    { role: "user", content: " 2+2? " },
    { role: "assistant", content: "4" },
    { role: "user", content: "Sure?" },
  ];
  assert.equal(
    template.render(chat, { addGenerationPrompt: true }),
    "<bos><start_of_turn>user\nBe brief.\n\n2+2?<end_of_turn>\n<start_of_turn>model\n4<end_of_turn>\n<start_of_turn>user\nSure?<end_of_turn>\n<start_of_turn>model\n",
  );
  const twice = [chat[1]!, chat[1]!];
  assert.throws(() => template.render(twice), /roles must alternate/);
});
