import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteTokenizer } from "../../../tests/policy/byte-tokenizer.js";
import { ScriptedDecoder } from "../../../tests/policy/scripted-decoder.js";
import { LocalPolicy } from "../../policy/local-policy.js";
import { PolicyServer } from "./policy-server.js";

type Json = Record<string, unknown>;

test("PolicyServer generates from ids, as vLLM's /inference/v1/generate", async (t) => {
  const tokenizer = new ByteTokenizer(["é"]);
  const sizes = { vocabSize: tokenizer.vocabSize, contextLength: 64 };
  // After "a" comes "b", and "z" ends it.
  const decoder = new ScriptedDecoder(sizes, (tokens) => {
    const last = tokens.at(-1)!;
    return last === 122 ? tokenizer.eosId : last + 1;
  });
  const server = await PolicyServer.start(new LocalPolicy({ name: "abc", tokenizer, decoder }));
  t.after(() => server.stop());
  const origin = server.url.replace("/v1", "");
  const generate = async (body: Json) => {
    const response = await fetch(`${origin}/inference/v1/generate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Json & {
      choices: { token_ids: number[]; finish_reason: string; logprobs: { content: Json[] } }[];
      error?: { message: string; param: string };
    };
  };
  const asked = { temperature: 0, logprobs: 1, skip_special_tokens: false, stop_token_ids: [257] };
  const { choices, prompt_token_ids } = await generate({
    ...{ model: "abc", token_ids: [120], sampling_params: asked, cache_salt: "x" },
  });
  const [choice] = choices;
  assert.deepEqual([choice!.token_ids, choice!.finish_reason], [[121, 122, 257], "stop"]);
  assert.deepEqual(prompt_token_ids, [120]);
  assert.deepEqual(
    choice!.logprobs.content.map(({ token, logprob }) => [token, logprob]),
    [
      ["token_id:121", -1],
      ["token_id:122", -1],
      ["token_id:257", -1],
    ],
  );
  const other = await generate({
    ...{ token_ids: [97], sampling_params: { ...asked, stop_token_ids: [100] } },
  });
  assert.deepEqual(other.choices[0]!.token_ids, [98, 99, 100], "an end token of the client's");
  const two = await generate({ token_ids: [97], sampling_params: { n: 2, max_tokens: 2 } });
  assert.deepEqual(
    two.choices.map(({ token_ids, finish_reason }) => [token_ids.length, finish_reason]),
    [
      [2, "length"],
      [2, "length"],
    ],
  );
  const refused = async (body: Json) => (await generate(body)).error!.message;
  assert.match(await refused({ token_ids: [999] }), /ids must be below/);
  assert.match(await refused({ token_ids: [] }), /token_ids/);
  assert.match(await refused({ token_ids: Array(70).fill(97) }), /maximum context length is 64/);
  assert.match(
    await refused({ token_ids: [97], sampling_params: { tempreature: 1 } }),
    /temperature/,
  );
  assert.match(
    await refused({ token_ids: [97], sampling_params: { stop_token_ids: [200] } }),
    /cannot stop at token 200/,
  );
  assert.match(await refused({ token_ids: [97], features: {} }), /the model reads text/);
  assert.match(await refused({ token_ids: [97], sampling_params: { min_tokens: 3 } }), /only 0/);
});
