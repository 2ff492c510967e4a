import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { shareRows } from "../../model/transformer/sharing.js";
import { Random } from "../../base/random/random.js";
import { splitByTokens, splitSequences, tokensAtOnce } from "./passes.js";

const itself = (sequence: number[]) => sequence;

test("splitSequences() keeps the order, fills passes up to their bound, and lets a longer sequence go alone", () => {
  const sequences = [[1, 2], [1, 2, 3], [4], [1, 2, 3, 4, 5, 6, 7], [1], [2]];
  const sizes = (bounds: Parameters<typeof splitSequences>[2]) =>
    splitSequences(sequences, itself, bounds).map((pass) => pass.length);
  assert.deepEqual(sizes({ maxTokensPerPass: 6 }), [2, 1, 1, 2]);
  assert.deepEqual(sizes({ maxTokensPerPass: 6, sharedPrefixes: true }), [3, 1, 2]);
  assert.deepEqual(sizes({ maxTokensPerPass: Infinity, maxSequencesPerPass: 4 }), [4, 2]);
  assert.deepEqual(sizes({ maxTokensPerPass: 1 }), [1, 1, 1, 1, 1, 1]);
  assert.deepEqual(splitSequences([], itself, { maxTokensPerPass: 6 }), []);
  for (const sharedPrefixes of [true, false]) {
    const passes = splitSequences(sequences, itself, { maxTokensPerPass: 5, sharedPrefixes });
    assert.deepEqual(passes.flat(), sequences);
  }
});

test("splitSequences() counts as many shared tokens as shareRows() makes", () => {
  const { config } = Model.init(
    { vocabSize: 4, hiddenSize: 8, intermediateSize: 8, layers: 1, heads: 2 },
    1,
  );
  for (let seed = 0; seed < 40; seed++) {
    const random = Random.from(seed);
    const sequences = Array.from({ length: 1 + random.integer(8) }, () =>
      Array.from({ length: 1 + random.integer(6) }, () => random.integer(3)),
    );
    const made = (of: number[][]) => shareRows(of, config).batch.ids.size;
    const all = made(sequences);
    const together = splitSequences(sequences, itself, {
      maxTokensPerPass: all,
      sharedPrefixes: true,
    });
    assert.equal(together.length, 1);
    const bounds = { maxTokensPerPass: all - 1, sharedPrefixes: true };
    const apart = splitSequences(sequences, itself, bounds);
    for (const pass of apart) assert.ok(pass.length === 1 || made(pass) < all);
    if (sequences.length > 1) assert.ok(apart.length > 1 || made(sequences.slice(0, 1)) === all);
  }
});

test("tokensAtOnce() is less for a larger model, never more than 16,384 and never nothing", () => {
  const sizes = { vocabSize: 9, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
  const { config } = Model.init(sizes, 1);
  assert.equal(tokensAtOnce(config), 16_384);
  const large = { ...config, hiddenSize: 576, intermediateSize: 1536, layers: 30, heads: 9 };
  const few = tokensAtOnce({ ...large, kvHeads: 3, headDim: 64 });
  assert.ok(few > 500 && few < 4000, String(few));
  assert.ok(tokensAtOnce({ ...large, layers: 1e9 }) === 1);
});

test("a trajectory without a prompt is refused: nothing says how likely its first token was", () => {
  const trajectory = { tree: 2, id: 1, prompt: new Int32Array(0), tokens: Int32Array.of(3) };
  assert.throws(
    () => splitByTokens([{ trajectory: trajectory as never }], { maxTokensPerPass: 6 }),
    /its prompt must have a token, .* got none for trajectory 1 of tree 2/,
  );
});
