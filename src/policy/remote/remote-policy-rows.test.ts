import assert from "node:assert/strict";
import { test } from "node:test";
import { rollout } from "../../rollout/rollout.js";
import { good, letters, once, policyAt, reply, serve } from "./testing/fake-endpoint.js";

test("RemotePolicy sends a chat endpoint messages, never the text of a template", async (t) => {
  const { url, bodies } = await serve(t, (_, response) =>
    reply(response, { message: { content: "a\u0001" }, finish_reason: "stop" }),
  );
  const policy = policyAt([url], { api: "chat", dialect: "openai" });
  const chat = [{ role: "user", content: "a question of some length" }];
  const settings = { n: 2, initialRollouts: 1, responseLength: 8 };
  const tree = await rollout(policy, { prompt: chat }, settings);
  const { length } = tree.prompt.tokens;
  await tree.fork(tree.trajectories[0]!.leaf, { at: 1, n: 1 });
  assert.deepEqual(
    bodies.map(({ messages }) => messages),
    [chat, chat, [...chat, { role: "assistant", content: "a" }]],
  );
  // What the messages do not say whole is refused: a text, and a prompt that was cut.
  const cut = { ...settings, promptLimit: { length: length - 1, truncation: "left" as const } };
  for (const asked of [
    rollout(policy, { prompt: letters.chat(chat), raw: true }, settings),
    rollout(policy, { prompt: chat }, cut),
  ]) {
    await assert.rejects(asked, /api "chat" needs the messages that the prompt was made of/);
  }
  assert.equal(bodies.length, 3);
});

test("an answer with text null is a failing machine, not an empty answer", async (t) => {
  for (const nothing of [
    { text: null, finish_reason: "stop" },
    { message: { content: null }, finish_reason: "length" },
    { finish_reason: "stop" },
  ]) {
    let asked = 0;
    const { url } = await serve(t, (_, response) =>
      reply(response, ++asked === 1 ? nothing : good),
    );
    const policy = policyAt([url]);
    const session = policy.session();
    const { finish } = await session.generate(session.open([65]), once());
    assert.equal(finish, "end");
    assert.equal(policy.health()[0]!.failed, 1);
    asked = 0;
    const hopeless = policyAt([url], { attempts: 1 }).session();
    await assert.rejects(
      hopeless.generate(hopeless.open([65]), once()),
      /must give an answer that can be used, got neither text nor tokens/,
    );
  }
});

test("an answer of more tokens than were asked for, or of unknown ones, is not taken", async (t) => {
  for (const [choice, message] of [
    [{ text: "", token_ids: Array.from({ length: 22 }, () => 65) }, /22 tokens where at most 20/],
    [{ text: "a".repeat(1000) }, /1000 tokens where at most 20/],
    [{ text: "a", token_ids: [1000] }, /must be one of/],
  ] as const) {
    const { url } = await serve(t, (_, response) => reply(response, choice));
    const tokenizer = { ...letters, decode: checkedDecode };
    const session = policyAt([url], { attempts: 1, tokenizer }).session();
    await assert.rejects(session.generate(session.open([65]), once()), message);
  }
});

/** As `HfTokenizer.decode`. */
function checkedDecode(ids: ArrayLike<number>): string {
  for (const id of Array.from(ids)) {
    if (id >= letters.vocabSize) throw new RangeError(`a token id must be one of 128, got ${id}`);
  }
  return letters.decode(ids);
}
