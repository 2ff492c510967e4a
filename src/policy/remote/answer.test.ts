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

test("what tokens were sampled from is read in both forms, and refused where it does not fit the tokens", () => {
  const two = (sampling_mask: object) => choice({ token_ids: [97, 98], sampling_mask });
  const supports = (mask: object) =>
    readAnswer(two(mask), reading)
      .tokens.slice(0, 2)
      .map(({ support }) => support);
  // The sampled token is among them even where it was left out; none is the whole vocabulary.
  const wanted = [[5, 97, 120], undefined];
  assert.deepEqual(supports({ token_ids: [120, 5], offsets: [0, 2, 2] }), wanted);
  assert.deepEqual(supports({ token_ids: [120, 5], counts: [2, 0] }), wanted);
  const refused: [object, RegExp][] = [
    [{ token_ids: [1], offsets: [0, 1] }, /sampling_mask of 2 tokens must have a rising place/],
    [{ token_ids: [1, 2], offsets: [0, 2, 1] }, /must have a rising place/],
    [{ token_ids: [1, 2], offsets: [0, 1, 3] }, /must have 3 ids below/],
    [{ token_ids: [1, 1e6], counts: [1, 1] }, /must have 2 ids below/],
    [{ token_ids: [1] }, /must have a rising place or a count for each, got 0/],
    [{ token_ids: [-1], counts: [1, 0] }, /token_ids/],
  ];
  for (const [mask, message] of refused) {
    assert.throws(() => readAnswer(two(mask), reading), message);
  }
});
