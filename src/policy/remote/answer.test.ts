import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteTokenizer } from "../../../tests/policy/byte-tokenizer.js";
import { readAnswer } from "./answer.js";

const reading = { tokenizer: new ByteTokenizer(), stops: [], maxTokens: 4 };
const choice = (more: object) => ({ choices: [{ text: "a", finish_reason: "stop", ...more }] });
const content = (logprob: number, top = -1) =>
  choice({
    logprobs: {
      content: [
        { id: 97, token: "a", logprob, top_logprobs: [{ id: 98, token: "b", logprob: top }] },
      ],
    },
  });
const completion = (own: number, top = -1) =>
  choice({ logprobs: { tokens: ["a"], token_logprobs: [own], top_logprobs: [{ b: top }] } });

test("an endpoint's log-probability above 0 is refused, wherever it stands", () => {
  for (const body of [content(0.5), content(-1, 2), completion(1e9), completion(-1, 0.01)]) {
    assert.throws(() => readAnswer(body, reading), /a log-probability must be at most 0/);
  }
  const negative = choice({ token_ids: [97], entropies: [-1] });
  assert.throws(() => readAnswer(negative, reading), /an entropy must be at least 0/);
});

test("rounding above 0 is 0", () => {
  for (const body of [content(1e-7), completion(1e-7)]) {
    assert.equal(readAnswer(body, reading).tokens[0]!.logprob, 0);
  }
});
