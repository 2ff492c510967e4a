import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decoderSuite,
  decoderVariants,
  engineVariants,
  feed,
} from "../../../tests/model/decoder-suite.js";
import { randomWeights, smallShape } from "../../../tests/model/random-decoder.js";
import { Random } from "../../base/random/random.js";
import { loadNativeEngine, nativeEngineExists } from "../../tensor/engine/native-engine.js";
import { loadWasmEngine } from "../../tensor/engine/wasm-engine.js";
import { EngineDecoder } from "./engine.js";
import type { EngineFunctions } from "../../tensor/engine/engine-functions.js";
import { PlainDecoder } from "./plain.js";
import type { Sampled, StepSampling } from "./decoder.js";
import { idsOf } from "../../policy/token-sets.js";
import { sample } from "./sample.js";

const engines = [
  ...(nativeEngineExists() ? [loadNativeEngine()] : []),
  // Where there is no compiler it is the only one; here it must do the same.
  loadWasmEngine(),
];

/** Log-probabilities by id from a report of every alternative. */
function byId(sampled: Sampled, sequence: number, vocab: number): number[] {
  const all = new Array<number>(vocab);
  for (let i = sequence * vocab; i < (sequence + 1) * vocab; i++)
    all[sampled.topIds[i]!] = sampled.topLogprobs[i]!;
  return all;
}

for (const { kind, call: kernels } of engines) {
  decoderSuite(
    `EngineDecoder on ${kind}`,
    (shape, source) => new EngineDecoder(kernels, shape, source),
  );

  test(`EngineDecoder on ${kind} gives the same bytes on any number of threads`, () => {
    const shape = smallShape({ hidden: 96, feedForward: 400, vocabSize: 500 });
    const weights = randomWeights(shape, { scale: 0.1 });
    const random = Random.from(6);
    const parts = Array.from({ length: 40 }, (_, sequence) => {
      const tokens = Array.from({ length: 1 + random.integer(20) }, () => random.integer(500));
      return [sequence, tokens] as const;
    });
    const threads = kernels.threads();
    const [one, two, five] = [1, 2, 5].map((count) => {
      kernels.set_threads(count);
      const decoder = new EngineDecoder(kernels, shape, () => weights);
      for (let i = 0; i < parts.length; i++) decoder.open();
      const prompts = feed(decoder, parts);
      const single = feed(
        decoder,
        parts.map(([sequence]) => [sequence, [sequence]] as const),
      );
      decoder.dispose();
      return [prompts, single];
    });
    kernels.set_threads(threads);
    assert.deepEqual(one, two);
    assert.deepEqual(one, five);
  });

  test(`EngineDecoder on ${kind} keeps keys and values in half the memory, rounded as PlainDecoder rounds them`, () => {
    for (const [, change, options] of [...decoderVariants, ...engineVariants]) {
      const shape = smallShape(change);
      const weights = randomWeights(shape, options);
      const random = Random.from(5);
      const parts = [3, 16, 70].map((count, sequence) => {
        const tokens = Array.from({ length: count }, () => random.integer(shape.vocabSize));
        return [sequence, tokens] as const;
      });
      const engine = new EngineDecoder(kernels, shape, () => weights, "float32", "float16");
      const whole = new EngineDecoder(kernels, shape, () => weights);
      const plain = new PlainDecoder(shape, () => weights, "float16");
      const said = [engine, plain, whole].map((decoder) => {
        for (let i = 0; i < parts.length; i++) decoder.open();
        feed(decoder, parts);
        const forked = decoder.fork(2);
        decoder.truncate(forked, 60);
        return feed(decoder, [
          [0, [1]],
          [forked, [2, 3]],
        ]);
      });
      const apart = (a: Sampled, b: Sampled): number => {
        let most = 0;
        for (const sequence of [0, 1]) {
          const [one, other] = [a, b].map((of) => byId(of, sequence, shape.vocabSize));
          for (const [id, value] of one!.entries())
            most = Math.max(most, Math.abs(value - other![id]!));
        }
        return most;
      };
      const [ours, oracle, exact] = said as [Sampled, Sampled, Sampled];
      assert.equal(engine.rounded, "float16");
      assert.equal(engine.bytes() * 2, whole.bytes());
      // A sum in another order may round to the next float16 now and then.
      assert.ok(apart(ours, oracle) < 1e-3, `${apart(ours, oracle)} from PlainDecoder`);
      assert.ok(apart(ours, exact) < 0.05, `${apart(ours, exact)} from what is not rounded`);
      assert.ok(apart(ours, exact) > 0, "something is rounded");
      for (const decoder of [engine, whole, plain]) decoder.dispose();
    }
  });

  for (const [what, change, options] of [...decoderVariants, ...engineVariants]) {
    test(`EngineDecoder on ${kind} agrees with PlainDecoder to 1e-4 (${what})`, () => {
      const shape = smallShape(change);
      const weights = randomWeights(shape, options);
      const random = Random.from(4);
      const parts = [1, 2, 15, 16, 17, 120, 31].map((count, sequence) => {
        const tokens = Array.from({ length: count }, () => random.integer(shape.vocabSize));
        return [sequence, tokens] as const;
      });
      const [engine, plain] = [
        new EngineDecoder(kernels, shape, () => weights),
        new PlainDecoder(shape, () => weights),
      ].map((decoder) => {
        for (let i = 0; i < parts.length; i++) decoder.open();
        const first = feed(decoder, parts);
        const second = feed(
          decoder,
          parts.map(([sequence]) => [sequence, [sequence + 1, sequence + 2]] as const),
        );
        return [first, second];
      });
      for (const step of [0, 1]) {
        for (const sequence of parts.keys()) {
          const a = byId(engine![step]!, sequence, shape.vocabSize);
          const b = byId(plain![step]!, sequence, shape.vocabSize);
          for (const id of a.keys())
            assert.ok(Math.abs(a[id]! - b[id]!) < 1e-4, `${sequence} ${id}`);
          assert.ok(
            Math.abs(engine![step]!.entropies[sequence]! - plain![step]!.entropies[sequence]!) <
              1e-4,
          );
        }
      }
    });
  }

  test(`the ${kind} sampler chooses and reports what sample() does`, () => {
    const random = Random.from(8);
    let compared = 0;
    for (const vocab of [3, 50, 300, 1031]) {
      const sequences = 200;
      const top = Math.min(vocab, 12);
      const masks = random.choose([undefined, [0, 1, 2].map(() => maskOf(vocab, random))]);
      const allowedAt = Int32Array.from({ length: sequences }, () =>
        masks ? random.integer(4) - 1 : -1,
      );
      const logits = Float32Array.from({ length: sequences * vocab }, () => random.normal() * 3);
      // Equal logits, so that the order among equals matters.
      for (let i = 0; i < logits.length; i += 7) logits[i] = Math.round(logits[i]!);
      const sampling: StepSampling = {
        temperature: Float32Array.from({ length: sequences }, () =>
          random.choose([0, 0.3, 1, 1, 2]),
        ),
        topK: Int32Array.from({ length: sequences }, () =>
          random.choose([0, 0, 1, 2, 20, vocab - 1]),
        ),
        topP: Float32Array.from({ length: sequences }, () =>
          random.choose([1, 1, 0.01, 0.5, 0.9, 0.999]),
        ),
        minP: Float32Array.from({ length: sequences }, () => random.choose([0, 0, 0.02, 0.5])),
        repetitionPenalty: Float32Array.from({ length: sequences }, () =>
          random.choose([1, 1.2, 0.7]),
        ),
        uniform: Float64Array.from({ length: sequences }, () => random.uniform()),
        ...(masks ? { allowed: Uint32Array.from(masks.flatMap((mask) => [...mask])) } : {}),
        allowedAt,
        constrained: allowedAt.map((at) => (at >= 0 && random.uniform() < 0.5 ? 1 : 0)),
        top,
      };
      const seen = Array.from({ length: sequences }, () =>
        Array.from({ length: random.integer(6) }, () => random.integer(vocab)),
      );
      const out = sampleSequences(kernels, logits, sequences, vocab, sampling, seen);
      for (let sequence = 0; sequence < sequences; sequence++) {
        const wanted = sample(logits.slice(sequence * vocab, (sequence + 1) * vocab), {
          temperature: sampling.temperature[sequence]!,
          topK: sampling.topK[sequence]!,
          topP: sampling.topP[sequence]!,
          minP: sampling.minP[sequence]!,
          repetitionPenalty: sampling.repetitionPenalty[sequence]!,
          uniform: sampling.uniform[sequence]!,
          seen: seen[sequence],
          allowed: masks?.[allowedAt[sequence]!],
          constrained: sampling.constrained![sequence] === 1,
          top,
        });
        assert.ok(Math.abs(out.entropies[sequence]! - wanted.entropy) < 1e-5);
        assert.deepEqual(
          [...out.topIds.subarray(sequence * top, sequence * top + top)],
          wanted.topIds,
        );
        for (const [i, logprob] of wanted.topLogprobs.entries()) {
          assert.ok(Math.abs(out.topLogprobs[sequence * top + i]! - logprob) < 1e-5);
        }
        // A draw or a cut may fall within rounding of a boundary: rare, and none of this seed does.
        assert.equal(out.tokens[sequence], wanted.token, `vocab ${vocab}, sequence ${sequence}`);
        assert.ok(Math.abs(out.logprobs[sequence]! - wanted.logprob) < 1e-5);
        const words = Math.ceil(vocab / 32);
        const support = out.support.subarray(sequence * words, (sequence + 1) * words);
        assert.deepEqual(idsOf(support, vocab), wanted.support);
        assert.ok(Math.abs(out.supportLogprobs[sequence]! - wanted.supportLogprob) < 1e-5);
        compared++;
      }
    }
    assert.equal(compared, 800);
  });

  test(`the ${kind} sampler names the first sequence whose logits are not finite`, () => {
    for (const bad of [NaN, Infinity]) {
      const logits = new Float32Array(30);
      logits[17] = bad;
      logits[25] = NaN;
      const one = (value: number): Float32Array => new Float32Array(3).fill(value);
      const sampling: StepSampling = {
        temperature: one(1),
        topK: new Int32Array(3),
        topP: one(1),
        minP: one(0),
        repetitionPenalty: one(1),
        uniform: new Float64Array(3),
        top: 1,
      };
      assert.equal(sampleSequences(kernels, logits, 3, 10, sampling, [[], [], []]).bad, 1);
    }
  });
}

function maskOf(vocab: number, random: Random): Uint32Array {
  const mask = new Uint32Array(Math.ceil(vocab / 32));
  for (let id = 0; id < vocab; id++)
    if (id === 1 || random.uniform() < 0.6) mask[id >> 5]! |= 1 << (id & 31);
  return mask;
}

function sampleSequences(
  kernels: EngineFunctions,
  logits: Float32Array,
  sequences: number,
  vocab: number,
  s: StepSampling,
  seen: readonly (readonly number[])[],
): Sampled & { bad: number } {
  const offsets = new Int32Array(sequences + 1);
  for (let i = 0; i < sequences; i++) offsets[i + 1] = offsets[i]! + seen[i]!.length;
  const out: Sampled = {
    tokens: new Int32Array(sequences),
    logprobs: new Float32Array(sequences),
    entropies: new Float32Array(sequences),
    topIds: new Int32Array(sequences * s.top),
    topLogprobs: new Float32Array(sequences * s.top),
    support: new Uint32Array(sequences * Math.ceil(vocab / 32)),
    supportLogprobs: new Float32Array(sequences),
  };
  const bad = kernels.sample_rows(
    logits.slice(),
    sequences,
    vocab,
    s.temperature,
    s.topK,
    s.topP,
    s.minP,
    s.repetitionPenalty,
    s.uniform,
    s.allowed ?? null,
    s.allowedAt ?? null,
    s.constrained ?? null,
    Int32Array.from(seen.flat()),
    offsets,
    s.top,
    out.tokens,
    out.logprobs,
    out.entropies,
    out.topIds,
    out.topLogprobs,
    out.support,
    out.supportLogprobs,
  );
  return { ...out, bad };
}
