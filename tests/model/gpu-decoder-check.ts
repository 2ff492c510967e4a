// Run by gpu-decoder.slow.test.ts: the decoder on a GPU beside the compiled engine's, sequence by sequence,
// through forks, cuts, sequences that join and leave, and every way of sampling. Prints what was found as JSON.
import { EngineDecoder } from "../../src/model/decoder/engine.js";
import { GpuDecoder } from "../../src/model/decoder/gpu/gpu-decoder.js";
import { uploaded } from "../../src/model/decoder/gpu/weight-source.js";
import { packHalf, unpackHalf } from "../../src/model/files/half.js";
import type { Decoder, Sampled, StepSampling } from "../../src/model/decoder/decoder.js";
import type { DecoderShape, DecoderWeights } from "../../src/model/decoder/weights.js";
import type { StoredValues } from "../../src/model/files/weight-file.js";
import { Random } from "../../src/base/random/random.js";
import { compiledEngine } from "../../src/tensor/engine/compiled-engine.js";
import { ready } from "../../src/tensor/backends.js";
import "../../src/tensor/tf.js";
import { webgpuDevice } from "../../src/tensor/optional/webgpu.js";
import { decoderVariants, plainSampling } from "./decoder-suite.js";
import { MirroredDecoder } from "./mirrored-decoder.js";
import { actAtRandom, type Fed } from "./random-acts.js";
import { randomWeights, smallShape } from "./random-decoder.js";

type Part = readonly [row: number, tokens: readonly number[]];

async function feed(decoder: Decoder, parts: readonly Part[], sampling: StepSampling) {
  const offsets = new Int32Array(parts.length + 1);
  for (const [i, [, tokens]] of parts.entries()) offsets[i + 1] = offsets[i]! + tokens.length;
  const rows = Int32Array.from(parts, ([row]) => row);
  const tokens = Int32Array.from(parts.flatMap(([, tokens]) => [...tokens]));
  return decoder.step(rows, tokens, offsets, sampling);
}

await ready();
const engine = compiledEngine()!;
const device = await webgpuDevice();
const faults: string[] = [];
device.addEventListener("uncapturederror", ({ error }) => faults.push(error.message));

function both(shape: DecoderShape, options: Parameters<typeof randomWeights>[1] = {}) {
  const weights = randomWeights(shape, options);
  return {
    right: new EngineDecoder(engine.call, shape, () => weights),
    ours: new GpuDecoder(device, shape, () => uploaded(device, weights)),
  };
}

/** How far two answers are apart; tokens that differ, where the draw is no tie, count as 1. */
function apart(ours: Sampled, right: Sampled): number {
  let most = 0;
  for (const name of ["logprobs", "entropies", "topLogprobs"] as const) {
    for (const [i, value] of right[name].entries()) {
      // A token that differs has another probability.
      if (name === "logprobs" && ours.tokens[i] !== right.tokens[i]) continue;
      const difference = Math.abs(ours[name][i]! - value) / (1 + Math.abs(value));
      most = Math.max(most, Number.isNaN(difference) ? 1 : difference);
    }
  }
  return most;
}

interface Found {
  apart: number;
  /** Sequences sampled, and those of them whose token was another one. */
  rows: number;
  others: number;
}
const nothing = (): Found => ({ apart: 0, rows: 0, others: 0 });
function note(found: Found, ours: Sampled, right: Sampled): void {
  found.apart = Math.max(found.apart, apart(ours, right));
  found.rows += right.tokens.length;
  found.others += right.tokens.filter((token, i) => ours.tokens[i] !== token).length;
}

/** Texts alone, together and in pieces: beside the engine, and the same bytes each way. */
async function texts() {
  const found = nothing();
  let same = true;
  for (const [, change, options] of decoderVariants) {
    const shape = smallShape(change);
    const { ours, right } = both(shape, options);
    const random = Random.from(2);
    const all = [1, 5, 16, 17, 33, 70].map((size) =>
      Array.from({ length: size }, () => random.integer(shape.vocabSize)),
    );
    const sampling = plainSampling(all.length, 0.5, shape.vocabSize);
    const open = (decoder: Decoder) => all.map((text) => [decoder.open(), text] as const);
    const together = await feed(ours, open(ours), sampling);
    note(found, together, await feed(right, open(right), sampling));
    for (const [i, text] of all.entries()) {
      const row = ours.open();
      let last: Sampled | undefined;
      for (let at = 0; at < text.length; at += 13) {
        const part = [row, text.slice(at, at + 13)] as const;
        last = await feed(ours, [part], plainSampling(1, 0.5, shape.vocabSize));
      }
      const top = shape.vocabSize;
      same &&= last!.logprobs[0] === together.logprobs[i];
      same &&=
        last!.topLogprobs.join() === together.topLogprobs.slice(i * top, (i + 1) * top).join();
      ours.close(row);
    }
    ours.dispose();
    right.dispose();
  }
  return { ...found, same };
}

const matrices = ["query", "key", "value", "output", "gate", "up", "down"] as const;

/** The same weights with every matrix but the embedding changed. */
function eachMatrix<M>(weights: DecoderWeights, change: (values: Float32Array) => M) {
  return {
    embedding: weights.embedding,
    finalNorm: weights.finalNorm,
    head: change(weights.head ?? weights.embedding),
    layers: weights.layers.map((layer) => ({
      ...layer,
      ...(Object.fromEntries(matrices.map((name) => [name, change(layer[name])])) as Record<
        (typeof matrices)[number],
        M
      >),
    })),
  };
}

const rounding = (type: "float16" | "bfloat16") => (values: Float32Array) => {
  const out = new Float32Array(values.length);
  unpackHalf(packHalf(values, type), type, out);
  return out;
};

/**
 * Weights in fewer bits, beside the engine's of the same type (of the same rounded numbers where it has
 * none): for many tokens and for few, of even widths and odd ones, packed on the card or before it.
 */
async function kept() {
  const found = { float16: nothing(), bfloat16: nothing(), int8: nothing() };
  let same = true;
  const rounded: string[] = [];
  for (const [, change, options] of [decoderVariants[1], decoderVariants[2]]) {
    const shape = smallShape({ ...change, layers: 1 });
    const weights = randomWeights(shape, options);
    const again = randomWeights(shape, { ...options, seed: 4 });
    const halves = eachMatrix<StoredValues>(weights, (values) => packHalf(values, "bfloat16"));
    for (const type of ["float16", "bfloat16", "int8"] as const) {
      let now = weights;
      const source = () =>
        type === "float16" ? { ...eachMatrix(now, rounding(type)), embedding: now.embedding } : now;
      const right = new EngineDecoder(
        ...([engine.call, shape, source, type === "float16" ? "float32" : type] as const),
      );
      const ours = new GpuDecoder(device, shape, () => uploaded(device, now), type);
      rounded.push(String(ours.rounded));
      for (const round of [0, 1]) {
        const random = Random.from(8);
        const texts = [40, 3].map((size) =>
          Array.from({ length: size }, () => random.integer(shape.vocabSize)),
        );
        const rows = texts.map(() => (right.open(), ours.open()));
        const sampling = plainSampling(2, 0.3, shape.vocabSize);
        for (const fed of [texts, [[1], [2]]]) {
          const parts = rows.map((row, i) => [row, fed[i]!] as const);
          note(found[type], await feed(ours, parts, sampling), await feed(right, parts, sampling));
        }
        for (const row of rows) for (const decoder of [ours, right]) decoder.close(row);
        if (round === 1) break;
        now = again;
        for (const decoder of [ours, right]) decoder.refresh();
      }
      ours.dispose();
      right.dispose();
    }
    // Bits of bfloat16, as files have them.
    const [bits, packed] = [halves, weights].map(
      (given) => new GpuDecoder(device, shape, () => uploaded(device, given), "bfloat16"),
    ) as [GpuDecoder, GpuDecoder];
    const said: Sampled[] = [];
    for (const decoder of [bits, packed]) {
      const sampling = plainSampling(1, 0.3, shape.vocabSize);
      said.push(await feed(decoder, [[decoder.open(), [1, 2, 3]]], sampling));
      decoder.dispose();
    }
    same &&= said[0]!.topLogprobs.join() === said[1]!.topLogprobs.join();
  }
  return { found, same, rounded };
}

/** Random opens, forks, cuts and closes in both; the bytes held are the same. */
async function tree() {
  const found = nothing();
  const sizes = new Set<number>();
  const shape = smallShape();
  const { ours, right } = both(shape);
  const random = Random.from(11);
  let rows: Fed[] = [];
  for (let round = 0; round < 40; round++) {
    const acted = actAtRandom(random, rows, [ours, right], shape);
    rows = acted.rows;
    const { parts } = acted;
    if (parts.length === 0) continue;
    const draws = parts.map(() => random.uniform());
    const sampling = plainSampling(parts.length, draws, 5);
    note(found, await feed(ours, parts, sampling), await feed(right, parts, sampling));
    sizes.add(ours.bytes() / right.bytes());
  }
  for (const { id } of rows) ours.close(id);
  // The engine's pages have some room to spare; how many there are is the same throughout.
  return { ...found, sizes: sizes.size, left: ours.bytes() };
}

/** Every setting of sampling at random, for 64 sequences at once, with and without a mask of allowed ids. */
async function sampling() {
  const found = nothing();
  const shape = smallShape({ vocabSize: 300, layers: 1 });
  const { ours, right } = both(shape, { scale: 0.6 });
  const random = Random.from(5);
  const rows = Array.from({ length: 64 }, () => (right.open(), ours.open()));
  for (let round = 0; round < 5; round++) {
    const count = rows.length;
    const settings: StepSampling = {
      temperature: Float32Array.from({ length: count }, () => random.choose([0, 0.5, 1, 2])),
      topK: Int32Array.from({ length: count }, () => random.choose([0, 0, 1, 3, 40, 299, 500])),
      topP: Float32Array.from({ length: count }, () => random.choose([1, 1, 0.9, 0.5, 0.01, 0])),
      minP: Float32Array.from({ length: count }, () => random.choose([0, 0, 0.05, 0.5])),
      repetitionPenalty: Float32Array.from({ length: count }, () =>
        random.choose([1, 1, 1.3, 0.7]),
      ),
      uniform: Float64Array.from({ length: count }, () => random.uniform()),
      ...(round % 2 === 1
        ? {
            // Three masks, and sequences without one.
            allowed: Uint32Array.from({ length: 30 }, () => random.integer(2 ** 32)),
            allowedAt: Int32Array.from({ length: count }, () => random.integer(4) - 1),
            constrained: Int32Array.from({ length: count }, () => random.integer(2)),
          }
        : {}),
      top: [0, 3, 6, 1, 300][round]!,
    };
    const parts = rows.map((row) => [row, [random.integer(300), random.integer(300)]] as const);
    note(found, await feed(ours, parts, settings), await feed(right, parts, settings));
  }
  return found;
}

/** What was seen of a decoder beside the right one: how far apart, and tokens that are no ties. */
function seen({ apart, steps, mostRows, otherwise }: MirroredDecoder) {
  return { apart, steps, mostRows, wrong: otherwise.filter(({ tie }) => !tie) };
}

/** Tokens decoded greedily and sampled, and what a step costs. */
async function answers() {
  const shape = smallShape({ layers: 3 });
  const { ours, right } = both(shape);
  const mirror = new MirroredDecoder(ours, right);
  const rows = Array.from({ length: 6 }, () => mirror.open());
  const random = Random.from(3);
  const tokens = rows.map((_, i) => [i, 2 * i + 1]);
  let before = { ...ours.cost };
  for (let step = 0; step < 24; step++) {
    const draws = rows.map(() => random.uniform());
    const settings = plainSampling(rows.length, draws, 4);
    settings.temperature.fill(0, 0, 3);
    before = { ...ours.cost };
    const parts = rows.map((row, i) => [row, tokens[i]!] as const);
    const said = await feed(mirror, parts, settings);
    for (const i of rows.keys()) tokens[i] = [said.tokens[i]!];
  }
  const cost = {
    dispatches: ours.cost.dispatches - before.dispatches,
    submits: ours.cost.submits - before.submits,
    bytesRead: ours.cost.bytesRead - before.bytesRead,
  };
  return { ...seen(mirror), cost, layers: shape.layers, count: rows.length };
}

/** Up to 64 sequences decoded together, of which some leave and others join at every step. */
async function crowd() {
  const shape = smallShape({ layers: 1, vocabSize: 131 });
  const { ours, right } = both(shape);
  const mirror = new MirroredDecoder(ours, right);
  const random = Random.from(21);
  let rows: { id: number; next: number[] }[] = [];
  let joined = 0;
  for (let step = 0; step < 10; step++) {
    const leaving = new Set(rows.filter(() => random.uniform() < 0.3));
    for (const { id } of leaving) mirror.close(id);
    rows = rows.filter((row) => !leaving.has(row));
    const room = step % 3 === 2 ? 20 : 64;
    while (rows.length < room) {
      const next = Array.from({ length: 1 + random.integer(5) }, () => random.integer(131));
      const from = rows.length > 0 && random.uniform() < 0.3 ? random.choose(rows) : undefined;
      rows.push({ id: from ? mirror.fork(from.id) : mirror.open(), next });
      joined++;
    }
    const draws = rows.map(() => random.uniform());
    const settings = plainSampling(rows.length, draws, 2);
    for (const i of rows.keys()) if (i % 2 === 0) settings.temperature[i] = 0;
    const said = await feed(mirror, rows.map(({ id, next }) => [id, next] as const), settings); // prettier-ignore
    for (const [i, row] of rows.entries()) row.next = [said.tokens[i]!];
  }
  for (const { id } of rows) mirror.close(id);
  return { ...seen(mirror), joined, left: ours.bytes() };
}

/** What may go wrong: a step that fails, a sequence closed while it is fed, sequences fed at the same time. */
async function trouble() {
  const shape = smallShape();
  const weights = randomWeights(shape);
  const decoder = new GpuDecoder(device, shape, () => uploaded(device, weights));
  const plain = (count: number) => plainSampling(count, 0.5, 0);
  const message = (run: Promise<unknown>) =>
    run.then(
      () => "no error",
      (error: unknown) => String(error),
    );
  const row = decoder.open();
  await feed(decoder, [[row, [1, 2]]], plain(1));
  const wrong = await message(feed(decoder, [[row, [shape.vocabSize]]], plain(1)));
  const length = decoder.length(row);
  const two = [feed(decoder, [[row, [3]]], plain(1)), feed(decoder, [[row, [4]]], plain(1))];
  await Promise.all(two);
  const queued = decoder.length(row);
  const underWay = feed(decoder, [[row, [5]]], plain(1));
  await Promise.resolve();
  await Promise.resolve();
  const forked = await message((async () => decoder.fork(row))());
  decoder.close(row);
  await underWay;
  const left = decoder.bytes();
  weights.layers[0]!.inputNorm.fill(NaN);
  decoder.refresh();
  const broken = decoder.open();
  const notANumber = await message(feed(decoder, [[broken, [1]]], plain(1)));
  const kept = decoder.length(broken);
  const refresh = await message((async () => decoder.refresh())());
  decoder.dispose();
  const gone = await message(feed(decoder, [[broken, [1]]], plain(1)));
  return { wrong, length, queued, forked, left, notANumber, kept, refresh, gone };
}

const result = {
  texts: await texts(),
  kept: await kept(),
  tree: await tree(),
  sampling: await sampling(),
  answers: await answers(),
  crowd: await crowd(),
  trouble: await trouble(),
  faults,
};
process.stdout.write(JSON.stringify(result), () => process.exit(0));
