import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, engines, near, packed, scores } from "../../../tests/model/blocks.js";
import { feed } from "../../../tests/model/decoder-suite.js";
import { testAgainWith, testSameBytes } from "../../../tests/model/instruction-sets.js";
import { randomWeights, smallShape } from "../../../tests/model/random-decoder.js";
import { Random } from "../../base/random/random.js";
import { PackedTensor } from "../files/gguf/packed-tensor.js";
import { quantize } from "../files/gguf/quantize.js";
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

/** Numbers rounded to 8 bits as activations are, worked out here once more. */
function rounded(x: readonly number[]): number[] {
  const blocks = Array.from({ length: x.length / 32 }, (_, i) => x.slice(32 * i, 32 * i + 32));
  return blocks.flatMap((block) => {
    const top = Math.max(...block.map(Math.abs));
    const number = (value: number) => Math.sign(value) * Math.floor((Math.abs(value) * 127) / top + 0.5); // prettier-ignore
    return block.map((value) => (number(value) * top) / 127);
  });
}

/** The log-probabilities after a token, of a model without layers. */
function expected(
  of: DecoderShape,
  weights: Record<"embedding" | "finalNorm" | "head", Float32Array>,
  id: number,
) {
  // prettier-ignore
  const { hidden } = of;
  const x = [...weights.embedding.subarray(id * hidden, (id + 1) * hidden)];
  const size = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / hidden + of.normEps);
  const input = rounded(x.map((value, i) => (value / size) * weights.finalNorm[i]!));
  const logits = Array.from({ length: of.vocabSize }, (_, row) =>
    input.reduce((sum, value, i) => sum + value * weights.head[row * hidden + i]!, 0),
  );
  const all = Math.log(logits.reduce((sum, value) => sum + Math.exp(value), 0));
  return logits.map((value) => value - all);
}

for (const [kind, load] of engines) {
  const { call } = load();
  const dtypes = { Q4_0: "w4a8", Q4_1: "w4a8", Q8_0: "w8a8" } as const;
  for (const [type, dtype] of Object.entries(dtypes) as [keyof typeof dtypes, "w4a8" | "w8a8"][]) {
    test(`the ${kind} decoder's ${dtype} gives sums of rounded activations with a file's blocks in ${type}`, () => {
      const weights = randomWeights(bare, { seed: 3 });
      const head = packed(weights.head ?? weights.embedding, type);
      const decoder = new EngineDecoder(call, bare, () => ({ ...weights, head }), dtype);
      const ids = Array.from({ length: 11 }, (_, i) => (i * 37) % bare.vocabSize);
      const whole = { ...weights, head: wholeValues(head) };
      for (const count of [1, 2, 3, 4, 5, 8, 11]) {
        const some = ids.slice(0, count);
        const got = scores(decoder, some.map((id) => [id])).slice(0, count); // prettier-ignore
        near(got, some.map((id) => expected(bare, whole, id))); // prettier-ignore
      }
      assert.equal(decoder.rounded, dtype);
      decoder.dispose();
    });

    test(`the ${kind} decoder's ${dtype} with blocks in ${type} is near to q4, and a sequence's bytes are the same alone`, () => {
      const weights = randomWeights(shape, { seed: 7 });
      const blocks = changed<StoredValues>(weights, (matrix) => packed(matrix, type));
      const decoder = new EngineDecoder(call, shape, () => blocks, dtype);
      const got = scores(decoder, lines);
      const exact = new EngineDecoder(call, shape, () => blocks, "q4");
      const wanted = scores(exact, lines);
      const spread = Math.max(...wanted.flat()) - Math.min(...wanted.flat());
      const apart = got.flatMap((row, i) => row.map((x, j) => Math.abs(x - wanted[i]![j]!)));
      const mean = apart.reduce((a, b) => a + b) / apart.length;
      assert.ok(mean > 0 && mean < 0.006 * spread, `${mean} of ${spread}`);
      const alone = lines.map((line) => scores(decoder, [line]));
      assert.deepEqual(alone.flatMap(([first]) => [first]), got.slice(0, lines.length)); // prettier-ignore
      assert.deepEqual(alone.flatMap(([, second]) => [second]), got.slice(lines.length)); // prettier-ignore
      exact.dispose();
      decoder.dispose();
    });
  }

  test(`the ${kind} decoder's w8a8 rounds what is no block to Q8_0, and w4a8 to Q4_1 but for the output matrix`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    const half = (m: Float32Array) => Uint16Array.from(new Uint32Array(m.slice().buffer), (x) => x >>> 16); // prettier-ignore
    const back = (m: Uint16Array) => new Float32Array(Uint32Array.from(m, (x) => x << 16).buffer);
    const pack = (m: Float32Array, to: "Q8_0" | "Q4_1") => new PackedTensor(to, quantize(to, m), m.length); // prettier-ignore
    const compare = (dtype: "w8a8" | "w4a8", given: StoredValues[], blocks: StoredValues[]) => {
      const [a, b] = [given, blocks].map((matrices) => {
        let next = 0;
        const all = changed<StoredValues>(weights, () => matrices[next++]!);
        const decoder = new EngineDecoder(call, shape, () => all, dtype);
        const told = scores(decoder, lines);
        decoder.dispose();
        return told;
      });
      assert.deepEqual(a, b);
    };
    const names: string[] = [];
    const matrices: Float32Array[] = [];
    changed(weights, (m, name) => (names.push(name), matrices.push(m)));
    const same = names.indexOf("embedding");
    const eights = matrices.map((m, i) => (i === same ? m : pack(m, "Q8_0")));
    compare("w8a8", matrices, eights);
    const fours = matrices.map((m, i) => (i === same ? m : pack(m, names[i] === "head" ? "Q8_0" : "Q4_1"))); // prettier-ignore
    compare("w4a8", matrices, fours);
    // Numbers in bfloat16, as a folder has them.
    const halves = matrices.map((m, i) => (i === same ? m : half(m)));
    const ofHalves = halves.map((m, i) => (i === same ? m : pack(back(m as Uint16Array), "Q8_0")));
    compare("w8a8", halves, ofHalves);
  });

  test(`the ${kind} decoder's four and eight bits have windows, GELU, further norms and biases`, () => {
    const kinds = [{ window: 9 }, { inverseFrequencies: new Float32Array(8) }];
    const other = { ...shape, kinds, activation: "gelu_tanh" as const, embeddingScale: 3 };
    const weights = randomWeights(other, { seed: 7, headNorm: true, more: true });
    const wanted = scores(new EngineDecoder(call, other, () => weights), lines);
    const spread = Math.max(...wanted.flat()) - Math.min(...wanted.flat());
    const means = { w8a8: 0.003, int8: 0.004, q4: 0.03, w4a8: 0.03 };
    for (const [dtype, most] of Object.entries(means)) {
      const decoder = new EngineDecoder(call, other, () => weights, dtype as keyof typeof means);
      const got = scores(decoder, lines);
      const apart = got.flatMap((row, i) => row.map((x, j) => Math.abs(x - wanted[i]![j]!)));
      const mean = apart.reduce((a, b) => a + b) / apart.length;
      assert.ok(mean > 0 && mean < most * spread, `${dtype}: ${mean} of ${spread}`);
      const alone = lines.map((line) => scores(decoder, [line]));
      assert.deepEqual(alone.flatMap(([first]) => [first]), got.slice(0, lines.length)); // prettier-ignore
      decoder.dispose();
    }
  });

  test(`the ${kind} decoder's w8a8 refuses weights that are not finite, and widths no block divides`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    weights.layers[1]!.gate[3 * shape.hidden + 5] = NaN;
    assert.throws(
      () => new EngineDecoder(call, shape, () => weights, "w8a8"),
      /weights must be finite, got a number that is not in layers\[1\]\.gate, row 3/,
    );
    const narrow = smallShape({ hidden: 40, heads: 2, kvHeads: 1, headDim: 16 });
    const other = randomWeights(narrow, { seed: 7 });
    assert.throws(
      () => new EngineDecoder(call, narrow, () => other, "w8a8"),
      /Cannot make a decoder: with dtype "w8a8" widths must be multiples of 32, got 40/,
    );
  });

  test(`the ${kind} decoder's w4a8 says it where what a sequence computes is not finite`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    weights.embedding[5 * shape.hidden + 40] = Infinity;
    const decoder = new EngineDecoder(call, shape, () => ({ ...weights, head: weights.embedding.map((x) => (Number.isFinite(x) ? x : 1)) }), "w4a8"); // prettier-ignore
    const open = decoder.open();
    assert.throws(() => feed(decoder, [[open, [5]]]), /finite/);
    decoder.dispose();
  });
}

testAgainWith(["sse2", "avx2", "avx-vnni", "avx512"], import.meta.url);
testSameBytes(
  "w4a8 and w8a8 have the same bytes with AVX2's own sums of bytes and with AVX-VNNI's",
  ["w4a8", "w8a8"],
  ["avx2", "avx-vnni"],
);
