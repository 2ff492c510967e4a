import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, engines, near, packed, scores } from "../../../tests/model/blocks.js";
import { testAgainWith, testSameBytes } from "../../../tests/model/instruction-sets.js";
import { randomWeights, smallShape } from "../../../tests/model/random-decoder.js";
import { Random } from "../../base/random/random.js";
import { packHalf, unpackHalf } from "../files/half.js";
import { type StoredValues, wholeValues } from "../files/weight-file.js";
import { EngineDecoder } from "./engine.js";
import type { DecoderShape } from "./weights.js";

const random = Random.from(5);
const shape = smallShape({ hidden: 64, feedForward: 160, heads: 4, kvHeads: 2, headDim: 16 });
/** Without layers a token's logits are one product: of its normed embedding and the output matrix. */
const bare = smallShape({ hidden: 96, layers: 0, vocabSize: 131, feedForward: 32, headDim: 8 });
const lines = [1, 2, 3, 17, 40].map((count) =>
  Array.from({ length: count }, () => random.integer(shape.vocabSize)),
);

function rounded(x: ArrayLike<number>): Float32Array {
  const out = new Float32Array(x.length);
  unpackHalf(packHalf(Float32Array.from(x), "bfloat16"), "bfloat16", out);
  return out;
}

/** The log-probabilities after a token, of a model without layers, summed in double precision. */
function expected(
  of: DecoderShape,
  weights: Record<"embedding" | "finalNorm" | "head", Float32Array>,
  id: number,
): number[] {
  const { hidden } = of;
  const x = [...weights.embedding.subarray(id * hidden, (id + 1) * hidden)];
  const size = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / hidden + of.normEps);
  const input = rounded(x.map((value, i) => (value / size) * weights.finalNorm[i]!));
  const head = rounded(weights.head);
  const logits = Array.from({ length: of.vocabSize }, (_, row) =>
    input.reduce((sum, value, i) => sum + value * head[row * hidden + i]!, 0),
  );
  const all = Math.log(logits.reduce((sum, value) => sum + Math.exp(value), 0));
  return logits.map((value) => value - all);
}

for (const [kind, load] of engines) {
  const { call } = load();

  test(`the ${kind} decoder's w16a16 gives sums of products of weights and activations in bfloat16`, () => {
    const weights = randomWeights(bare, { seed: 3 });
    // Numbers below the normal ones count as zero; a tie goes to the even one.
    const head = (weights.head ?? weights.embedding).map((x, i) =>
      i % 7 === 0 ? 1e-39 : i % 7 === 1 ? 1 + 2 ** -8 : x,
    );
    const decoder = new EngineDecoder(call, bare, () => ({ ...weights, head }), "w16a16");
    const ids = Array.from({ length: 19 }, (_, i) => (i * 37) % bare.vocabSize);
    for (const count of [1, 2, 3, 4, 5, 7, 8, 11, 19]) {
      const some = ids.slice(0, count);
      const got = scores(decoder, some.map((id) => [id])).slice(0, count); // prettier-ignore
      near(got, some.map((id) => expected(bare, { ...weights, head }, id))); // prettier-ignore
    }
    assert.equal(decoder.rounded, "w16a16");
    decoder.dispose();
  });

  test(`the ${kind} decoder's w16a16 is near to float32, and a sequence's bytes are the same alone`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    const decoder = new EngineDecoder(call, shape, () => weights, "w16a16");
    const got = scores(decoder, lines);
    const exact = new EngineDecoder(call, shape, () => weights);
    const wanted = scores(exact, lines);
    const spread = Math.max(...wanted.flat()) - Math.min(...wanted.flat());
    const apart = got.flatMap((row, i) => row.map((x, j) => Math.abs(x - wanted[i]![j]!)));
    const mean = apart.reduce((a, b) => a + b) / apart.length;
    assert.ok(mean > 0 && mean < 0.003 * spread, `${mean} of ${spread}`);
    const alone = lines.map((line) => scores(decoder, [line]));
    assert.deepEqual(alone.flatMap(([first]) => [first]), got.slice(0, lines.length)); // prettier-ignore
    assert.deepEqual(alone.flatMap(([, second]) => [second]), got.slice(lines.length)); // prettier-ignore
    exact.dispose();
    decoder.dispose();
  });

  test(`the ${kind} decoder's w16a16 takes numbers in bfloat16 and a file's blocks, which it rounds`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    const told = (matrices: (m: Float32Array) => StoredValues): number[][] => {
      const all = changed<StoredValues>(weights, matrices);
      const decoder = new EngineDecoder(call, shape, () => ({ ...all, embedding: weights.embedding }), "w16a16"); // prettier-ignore
      const found = scores(decoder, lines);
      decoder.dispose();
      return found;
    };
    const plain = told((m) => m);
    assert.deepEqual(told((m) => packHalf(m, "bfloat16") as Uint16Array), plain); // prettier-ignore
    assert.deepEqual(told((m) => packed(m, "Q4_1")), told((m) => wholeValues(packed(m, "Q4_1")))); // prettier-ignore
  });

  test(`the ${kind} decoder's w16a16 refuses weights that are not finite, and widths that 32 does not divide`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    weights.layers[1]!.gate[3 * shape.hidden + 5] = Infinity;
    assert.throws(
      () => new EngineDecoder(call, shape, () => weights, "w16a16"),
      /weights must be finite, got a number that is not in layers\[1\]\.gate, row 3/,
    );
    const narrow = smallShape({ hidden: 40, heads: 2, kvHeads: 1, headDim: 16 });
    const other = randomWeights(narrow, { seed: 7 });
    assert.throws(
      () => new EngineDecoder(call, narrow, () => other, "w16a16"),
      /Cannot make a decoder: with dtype "w16a16" widths must be multiples of 32, got 40/,
    );
  });
}

testAgainWith(["sse2", "avx2", "avx512"], import.meta.url);
// Where the processor has no sums of pairs, or no AVX-512, both are the same.
testSameBytes(
  "w16a16 has the same bytes with the processor's sums of pairs and with float32's",
  ["w16a16"],
  [undefined, "avx512"],
);
