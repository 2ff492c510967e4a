import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decoder, Sampled, StepSampling } from "../../src/model/decoder/decoder.js";
import type { DecoderShape, WeightsSource } from "../../src/model/decoder/weights.js";
import { Random } from "../../src/base/random/random.js";
import { actAtRandom, type Fed } from "./random-acts.js";
import { randomWeights, smallShape } from "./random-decoder.js";

/** Makes a decoder under test. */
export type MakeDecoder = (shape: DecoderShape, source: WeightsSource) => Decoder;

/** Sampling for some sequences: temperature 1, nothing cut off, all alternatives reported. */
export function plainSampling(
  count: number,
  uniform: number | number[],
  top: number,
): StepSampling {
  return {
    temperature: new Float32Array(count).fill(1),
    topK: new Int32Array(count),
    topP: new Float32Array(count).fill(1),
    minP: new Float32Array(count),
    repetitionPenalty: new Float32Array(count).fill(1),
    uniform: new Float64Array(count)
      .fill(0)
      .map((_, i) => (Array.isArray(uniform) ? uniform[i]! : uniform)),
    top,
  };
}

/** Feeds sequences and gives what was sampled, for decoders that answer at once. */
export function feed(
  decoder: Decoder,
  parts: readonly (readonly [row: number, tokens: readonly number[]])[],
  sampling: StepSampling = plainSampling(parts.length, 0.5, decoder.vocabSize),
): Sampled {
  const offsets = new Int32Array(parts.length + 1);
  for (const [i, [, tokens]] of parts.entries()) offsets[i + 1] = offsets[i]! + tokens.length;
  return decoder.step(
    Int32Array.from(parts, ([row]) => row),
    Int32Array.from(parts.flatMap(([, tokens]) => [...tokens])),
    offsets,
    sampling,
  ) as Sampled;
}

/** Everything sampled for one sequence, as bytes can be compared. */
function entry(sampled: Sampled, i: number, top: number): unknown[] {
  return [
    sampled.tokens[i],
    sampled.logprobs[i],
    sampled.entropies[i],
    [...sampled.topIds.subarray(i * top, (i + 1) * top)],
    [...sampled.topLogprobs.subarray(i * top, (i + 1) * top)],
  ];
}

/** Shapes and weights that between them have every feature of a layer. */
export const decoderVariants = [
  ["biases, tied", {}, {}],
  [
    "head norms, untied",
    { heads: 6, kvHeads: 2, headDim: 10 },
    { bias: false, headNorm: true, tied: false },
  ],
  [
    "one key-value head, odd sizes",
    { heads: 3, kvHeads: 1, hidden: 37, feedForward: 53, vocabSize: 71 },
    {},
  ],
] as const;

/** The same of what a GPU's decoder has not. */
export const engineVariants = [
  [
    "windows, angles by layer, GELU, further biases and norms",
    {
      layers: 3,
      kinds: [{ window: 21 }, { inverseFrequencies: [0, 0, 0, 0] }, { window: 5, inverseFrequencies: [2, 1, 0.5, 0.1], magnitude: 1.1 }], // prettier-ignore
      activation: "gelu_tanh",
      embeddingScale: 1.5,
      magnitude: 1.2,
    },
    { headNorm: true, more: true },
  ],
] as const;

/** The same of what plain code alone has. */
export const plainVariants = [
  [
    "linear attention, gates, a part of a head turned",
    {
      layers: 4,
      linear: { layers: [true, false, true, true], keyHeads: 2, valueHeads: 4, keyDim: 5, valueDim: 3, taps: 4 }, // prettier-ignore
      gatedAttention: true,
      rotaryDim: 4,
      inverseFrequencies: [1, 0.01],
    },
    { headNorm: true, bias: false },
  ],
] as const;

/** The tests every decoder must pass; `further` are shapes and weights of what not every decoder has. */
export function decoderSuite(
  name: string,
  make: MakeDecoder,
  further: typeof plainVariants | readonly [] = [],
): void {
  for (const [what, change, options] of [...decoderVariants, ...engineVariants, ...further]) {
    const shape = smallShape(change);
    const weights = randomWeights(shape, options);
    const top = shape.vocabSize;

    test(`${name} gives a sequence the same bytes alone, in a batch, and fed in pieces (${what})`, () => {
      const decoder = make(shape, () => weights);
      const random = Random.from(2);
      const texts = Array.from({ length: 9 }, (_, i) =>
        Array.from({ length: [1, 5, 16, 17, 33, 64, 70, 90, 100][i]! }, () => random.integer(top)),
      );
      const rows = texts.map(() => decoder.open());
      const together = feed(
        decoder,
        texts.map((text, i) => [rows[i]!, text] as const),
      );
      for (const [i, text] of texts.entries()) {
        const alone = decoder.open();
        const one = feed(decoder, [[alone, text]]);
        assert.deepEqual(entry(one, 0, top), entry(together, i, top), `alone: ${text.length}`);
        const pieces = decoder.open();
        let last = one;
        for (let at = 0; at < text.length;) {
          const size = 1 + random.integer(40);
          last = feed(decoder, [[pieces, text.slice(at, at + size)]]);
          at += size;
        }
        assert.deepEqual(entry(last, 0, top), entry(together, i, top), `pieces: ${text.length}`);
        decoder.close(alone);
        decoder.close(pieces);
      }
      for (const row of rows) decoder.close(row);
      assert.equal(decoder.bytes(), 0);
      decoder.dispose();
    });
  }

  const usual = ["", {}, {}] as const;
  for (const [what, change, options] of [usual, ...further])
    test(`${name} keeps random opens, forks, cuts and closes equal to computing afresh${what && ` (${what})`}`, () => {
      const shape = smallShape(change);
      const weights = randomWeights(shape, options);
      const decoder = make(shape, () => weights);
      const random = Random.from(11);
      const top = 5;
      let rows: Fed[] = [];
      for (let round = 0; round < 60; round++) {
        const acted = actAtRandom(random, rows, [decoder], shape);
        rows = acted.rows;
        const { part, parts } = acted;
        if (part.length === 0) continue;
        const draws = parts.map(() => random.uniform());
        const sampled = feed(decoder, parts, plainSampling(parts.length, draws, top));
        const check = random.integer(part.length);
        const fresh = decoder.open();
        const again = feed(
          decoder,
          [[fresh, part[check]!.tokens]],
          plainSampling(1, draws[check]!, top),
        );
        assert.deepEqual(entry(again, 0, top), entry(sampled, check, top), `round ${round}`);
        assert.equal(decoder.length(part[check]!.id), part[check]!.tokens.length);
        decoder.close(fresh);
      }
      for (const row of rows) decoder.close(row.id);
      assert.equal(decoder.bytes(), 0);
      decoder.dispose();
    });

  test(`${name} counts a shared past once`, () => {
    const shape = smallShape();
    const weights = randomWeights(shape);
    const decoder = make(shape, () => weights);
    const row = decoder.open();
    feed(decoder, [[row, new Array<number>(100).fill(3)]]);
    const alone = decoder.bytes();
    const forks = Array.from({ length: 16 }, () => decoder.fork(row));
    assert.equal(decoder.bytes(), alone);
    feed(
      decoder,
      forks.map((fork, i) => [fork, [i]] as const),
    );
    // 100 tokens end within a page, so each fork copies that one page and no more.
    assert.equal(decoder.bytes(), alone + (16 * alone) / Math.ceil(100 / 16));
    for (const open of [row, ...forks]) decoder.close(open);
    assert.equal(decoder.bytes(), 0);
    decoder.dispose();
  });

  test(`${name} refuses bad input and leaves every sequence as it was`, () => {
    const shape = smallShape();
    let weights = randomWeights(shape);
    const decoder = make(shape, () => weights);
    const row = decoder.open();
    const other = decoder.open();
    const reference = feed(decoder, [[row, [1, 2, 3]]]);
    const bytes = decoder.bytes();
    const refuse = (parts: [number, number[]][], rule: RegExp): void => {
      assert.throws(() => feed(decoder, parts), rule);
      assert.equal(decoder.bytes(), bytes);
      assert.equal(decoder.length(row), 3);
      assert.equal(decoder.length(other), 0);
    };
    refuse(
      [
        [row, [1]],
        [other, [shape.vocabSize]],
      ],
      /ids must be from 0 to 49, got 50/,
    );
    refuse([[row, [-1]]], /got -1/);
    refuse([[row, []]], /at least one token, got 0/);
    refuse(
      [
        [row, [1]],
        [row, [1]],
      ],
      /a sequence may be listed once, got 0/,
    );
    refuse(
      [
        [row, [1]],
        [77, [1]],
      ],
      /sequence 77: no such sequence is open/,
    );
    refuse([[other, new Array<number>(161).fill(1)]], /context of 160 tokens, got 161/);
    assert.throws(() => decoder.refresh(), /no sequence may be open, got 2 open sequences/);
    const again = decoder.fork(row);
    decoder.truncate(again, 2);
    assert.deepEqual(entry(feed(decoder, [[again, [3]]]), 0, 50), entry(reference, 0, 50));
    for (const open of [row, other, again]) decoder.close(open);
    assert.throws(() => decoder.close(row), /no such sequence is open/);

    weights = randomWeights(shape);
    weights.layers[1]!.down[7] = NaN;
    decoder.refresh();
    const broken = decoder.open();
    assert.throws(
      () => feed(decoder, [[broken, [1, 2]]]),
      /logits must be finite numbers, got NaN/,
    );
    assert.equal(decoder.length(broken), 0);
    assert.equal(decoder.bytes(), 0);
    decoder.close(broken);

    weights = randomWeights(shape, { seed: 9 });
    decoder.refresh();
    const fresh = make(shape, () => weights);
    const here = feed(decoder, [[decoder.open(), [1, 2, 3]]]);
    assert.deepEqual(entry(here, 0, 50), entry(feed(fresh, [[fresh.open(), [1, 2, 3]]]), 0, 50));
    assert.notDeepEqual(entry(here, 0, 50), entry(reference, 0, 50));
    assert.throws(
      () => make(shape, () => ({ ...weights, finalNorm: new Float32Array(3) })),
      /finalNorm must have 20 values, got 3/,
    );
    decoder.dispose();
    fresh.dispose();
  });
}
