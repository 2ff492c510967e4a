// Long texts and many messages: what cannot fit is refused by counting, what is long is read on another thread.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ChatTemplate } from "../../src/model/tokenizer/chat-template.js";
import { HfTokenizer } from "../../src/model/tokenizer/hf-tokenizer.js";
import { TextWork } from "../../src/interop/serve/text-work.js";
import { serveTiny, tinyFolder } from "./tiny-server.js";

interface Answer {
  status: number;
  json: { error?: { message: string; code: string | null }; tokens?: number[] };
}

async function post(url: string, body: object): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, json: (await response.json()) as Answer["json"] };
}

const long = 3_500_000;
const many = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test("what cannot fit is refused before any work", async (t) => {
  const { policy, server } = await serveTiny(t);
  // Nothing of these may reach the tokenizer, the template or the check of single fields.
  const { tokenizer } = policy;
  const untouched = (): never => assert.fail("the tokenizer was asked");
  Object.assign(tokenizer, { encode: untouched, chat: untouched });
  const model = server.model;
  const root = server.url.replace(/\/v1$/, "");
  const message = { role: "user", content: "x" };
  const texts = ["a", " ", "🙂", "(", "\n", "<|im_end|>", "漢"];
  const oversized: [string, object][] = [
    ...texts.flatMap((unit): [string, object][] => {
      const text = unit.repeat(Math.floor(long / Buffer.byteLength(unit)));
      const parts = [{ type: "text", text: text.slice(1) }];
      return [
        ["/tokenize", { prompt: text }],
        ["/v1/completions", { model, prompt: text }],
        ["/v1/completions", { model, prompt: ["x", text] }],
        ["/v1/chat/completions", { model, messages: [{ role: "user", content: text }] }],
        ["/v1/chat/completions", { model, messages: [{ role: "user", content: parts }] }],
      ];
    }),
    ["/v1/chat/completions", { model, messages: many(60_000, message) }],
    ["/v1/chat/completions", { model, messages: many(60_000, null) }],
    ["/v1/chat/completions", { model, messages: [{ ...message, tool_calls: many(5e5, {}) }] }],
    ["/v1/chat/completions", { model, messages: [message], tools: many(50_000, {}) }],
    ["/v1/chat/completions", { model, messages: [message], metadata: many(1e6, 1) }],
    ["/v1/chat/completions", { model, messages: [message], allowed_token_ids: many(1e6, 1) }],
    ["/v1/completions", { model, prompt: many(800_000, "x") }],
    ["/v1/completions", { model, prompt: many(1_000_000, 1) }],
    ["/v1/completions", { model, prompt: [many(1_000_000, 1)] }],
    ["/v1/completions", { model, prompt: many(500_000, [1]) }],
    ["/v1/completions", { model, prompt: "x", stop: many(500_000, "x") }],
  ];
  for (const [path, body] of oversized) {
    const { status, json } = await post(root + path, body);
    // As JSON some are longer than a body may be.
    assert.ok([400, 413].includes(status), `${status} ${JSON.stringify(body).slice(0, 80)}`);
    assert.match(json.error!.message, /at most|maximum context length/);
  }
});

test("a long text that may fit is read on another thread, to the same tokens", async (t) => {
  const tokenizer = await HfTokenizer.load(tinyFolder);
  const work = new TextWork(tokenizer);
  t.after(async () => await work.stop());
  const text = "the cat 🙂 (sat) 漢\n".repeat(5000);
  let turns = 0;
  let isDone = false;
  const encoding = work.encode(text).finally(() => (isDone = true));
  while (!isDone) {
    await new Promise((done) => setImmediate(done));
    turns++;
  }
  assert.deepEqual(await encoding, tokenizer.encode(text));
  // The main thread went on meanwhile: a text read on it would have left it one turn.
  assert.ok(turns > 5, `${turns} turns`);
  const messages = many(200, { role: "user", content: "x" });
  assert.equal(await work.chat(messages, {}), tokenizer.chat(messages, {}));
});

test("/health answers while a long text is read", async (t) => {
  const { policy, server } = await serveTiny(t);
  Object.defineProperty(policy, "contextLength", { value: 1e7 });
  const root = server.url.replace(/\/v1$/, "");
  for (const unit of ["a", " ", "🙂"]) {
    let isDone = false;
    const reading = post(`${root}/tokenize`, { prompt: unit.repeat(300_000) }).finally(
      () => (isDone = true),
    );
    let healthy = 0;
    do {
      assert.equal((await fetch(`${root}/health`)).status, 200);
      if (!isDone) healthy++;
    } while (!isDone);
    assert.equal((await reading).status, 200);
    // Read on the server's own thread, the text would have left time for one.
    assert.ok(healthy > 3, `${healthy} answers for ${JSON.stringify(unit)}`);
  }
});

test("a chat template takes so many steps, characters and items, and no more", () => {
  const endless = [
    "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
    "{% for a in range(1000000000) %}x{% endfor %}",
    "{% for a in range(0, -1000000000, -1) %}{% endfor %}",
    "{% set r = range %}{{ r(1000000000) | length }}",
    "{% set n = namespace(t='xxxxxxxx') %}{% for a in range(64) %}{% set n.t = n.t + n.t %}{% endfor %}{{ n.t }}",
    "{% set n = namespace(t=[1]) %}{% for a in range(64) %}{% set n.t = n.t + n.t %}{% endfor %}",
    // Ended the whole process: V8 cannot hold so many matches.
    "{% set n = namespace(t='xxxxxxxx') %}{% for a in range(64) %}{% set n.t = n.t | replace('x', 'xx') %}{% endfor %}",
    "{% set n = namespace(t='xxxxxxxx') %}{% for a in range(19) %}{% set n.t = n.t + n.t %}{% endfor %}{% for a in range(10000) %}{% set y = n.t | upper %}{% endfor %}",
  ];
  for (const source of endless) {
    assert.throws(
      () => new ChatTemplate(source).render([{ role: "user", content: "x" }]),
      /Cannot render the chat: .*(a template may|call stack)/,
      source,
    );
  }
  assert.throws(() => new ChatTemplate("x".repeat(2 << 20)), /at most 1048576 characters/);
  const messages = many(20_000, { role: "user", content: "x" });
  const plain =
    "{% for m in messages %}{% if m.role == 'user' %}{{ m.content | trim }}{% endif %}{% endfor %}";
  assert.equal(new ChatTemplate(plain).render(messages), "x".repeat(20_000));
});
