import assert from "node:assert/strict";
import { test } from "node:test";
import { serveTiny } from "./tiny-server.js";

test("/tokenize and /detokenize answer as vLLM's: texts, chats, ids and errors that name the field", async (t) => {
  const { server, policy } = await serveTiny(t);
  const post = async (path: string, body: object) => {
    const response = await fetch(server.url.replace("/v1", path), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const { tokenizer, contextLength } = policy;
  const text = tokenizer.chat([{ role: "user", content: "1+1?" }], { addGenerationPrompt: true });
  const tokens = tokenizer.encode(text);
  const count = tokens.length;
  const plain = await post("/tokenize", { model: server.model, prompt: text });
  const whole = { tokens, count, max_model_len: contextLength, token_strs: null };
  assert.deepEqual(plain.json, whole);
  const messages = [{ role: "user", content: "1+1?" }];
  const chat = await post("/tokenize", { messages, return_token_strs: true });
  assert.deepEqual(chat.json["tokens"], tokens);
  assert.equal((chat.json["token_strs"] as string[]).join(""), text);
  assert.deepEqual((await post("/detokenize", { tokens })).json, { prompt: text });
  const wrong: [string, object, string][] = [
    ["/tokenize", {}, "prompt"],
    ["/tokenize", { prompt: text, messages }, "prompt"],
    ["/tokenize", { prompt: "x", model: "other" }, "model"],
    ["/detokenize", { tokens: ["x"] }, "tokens.0"],
    ["/detokenize", { tokens: [tokenizer.vocabSize] }, "tokens"],
    ["/detokenize", { tokens: Array.from({ length: contextLength }, () => 1) }, "tokens"],
  ];
  for (const [path, body, param] of wrong) {
    const { status, json } = await post(path, body);
    assert.ok(status === 400 || status === 404);
    assert.equal((json["error"] as { param: string }).param, param);
  }
});
