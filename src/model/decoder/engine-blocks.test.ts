import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, engines, near, packed, scores as scoresOf } from "../../../tests/model/blocks.js";
import { randomWeights, smallShape } from "../../../tests/model/random-decoder.js";
import { Random } from "../../base/random/random.js";
import { PackedTensor } from "../files/gguf/packed-tensor.js";
import { quantize } from "../files/gguf/quantize.js";
import { type StoredValues, wholeValues } from "../files/weight-file.js";
import { EngineDecoder } from "./engine.js";
import { PlainDecoder } from "./plain.js";
import type { Decoder } from "./decoder.js";

const shape = smallShape({ hidden: 64, feedForward: 160, heads: 4, kvHeads: 2, headDim: 16 });
const random = Random.from(5);
const lines = [1, 2, 3, 17, 40].map((count) =>
  Array.from({ length: count }, () => random.integer(shape.vocabSize)),
);
const scores = (decoder: Decoder, sequences = lines) => scoresOf(decoder, sequences);

for (const [kind, load] of engines) {
  const { call } = load();
  const weights = randomWeights(shape, { seed: 7 });

  for (const type of ["Q4_0", "Q4_1", "Q8_0"] as const) {
    test(`the ${kind} decoder's q4 computes with a file's blocks in ${type} as with what they stand for`, () => {
      const blocks = changed<StoredValues>(weights, (matrix) => packed(matrix, type));
      const whole = changed(weights, (matrix) => wholeValues(packed(matrix, type)));
      const decoder = new EngineDecoder(call, shape, () => blocks, "q4");
      const got = scores(decoder);
      near(got, scores(new PlainDecoder(shape, () => whole)));
      const alone = lines.map((line) => scores(decoder, [line]));
      assert.deepEqual(alone.flatMap(([first]) => [first]), got.slice(0, lines.length)); // prettier-ignore
      assert.deepEqual(alone.flatMap(([, second]) => [second]), got.slice(lines.length)); // prettier-ignore
      // As numbers they would be rounded to Q4_1.
      if (type === "Q4_0") assert.equal(decoder.rounded, "q4");
      decoder.dispose();
    });
  }

  test(`the ${kind} decoder's q4 rounds what is no block to Q4_1, and the output matrix to Q8_0`, () => {
    const rounded = changed(weights, (matrix, name) => {
      const to = name === "head" ? "Q8_0" : "Q4_1";
      return name === "embedding" ? matrix : wholeValues(new PackedTensor(to, quantize(to, matrix), matrix.length)); // prettier-ignore
    });
    const decoder = new EngineDecoder(call, shape, () => changed<StoredValues>(weights, (m) => m), "q4"); // prettier-ignore
    near(scores(decoder), scores(new PlainDecoder(shape, () => rounded)));
    decoder.dispose();
  });

  test(`the ${kind} decoder's q4 takes queries, keys and values in blocks of two kinds as Q8_0`, () => {
    const mixed = changed<StoredValues>(weights, (matrix, name) =>
      name === "value" ? packed(matrix, "Q8_0") : packed(matrix, "Q4_1"),
    );
    const whole = changed(weights, (matrix, name) => {
      const values = wholeValues(packed(matrix, name === "value" ? "Q8_0" : "Q4_1"));
      if (name !== "query" && name !== "key") return values;
      return wholeValues(new PackedTensor("Q8_0", quantize("Q8_0", values), values.length));
    });
    const decoder = new EngineDecoder(call, shape, () => mixed, "q4");
    near(scores(decoder), scores(new PlainDecoder(shape, () => whole)));
    decoder.dispose();
  });

  test(`the ${kind} decoder's q4 refuses blocks that are not finite, and widths no block divides`, () => {
    const bad = changed<StoredValues>(weights, (matrix, name) => {
      const tensor = packed(matrix, "Q4_1");
      if (name === "up") tensor.bytes.set([0x00, 0x7c], 3 * 2 * 20); // row 3 of two blocks: infinite
      return tensor;
    });
    assert.throws(
      () => new EngineDecoder(call, shape, () => bad, "q4"),
      /weights must be finite, got a number that is not in layers\[0\]\.up, row 3/,
    );
    const narrow = smallShape({ hidden: 40, heads: 2, kvHeads: 1, headDim: 16 });
    const other = randomWeights(narrow, { seed: 7 });
    assert.throws(
      () => new EngineDecoder(call, narrow, () => other, "q4"),
      /Cannot make a decoder: with dtype "q4" widths must be multiples of 32, got 40/,
    );
  });
}
