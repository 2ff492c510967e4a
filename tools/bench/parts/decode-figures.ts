// Decoding as a user of a policy gets it: the sizes of the PyTorch baseline, 64 sequences at once; then what 16
// branches of a long prefix cost beside 16 sequences that each hold the prefix on their own.
import { makeDecoder } from "../../../src/model/decoder/make-decoder.js";
import { Model } from "../../../src/model/transformer/transformer.js";
import type { Decoder } from "../../../src/model/decoder/decoder.js";
import type { Tokenizer } from "../../../src/model/tokenizer/tokenizer.js";
import { LocalPolicy } from "../../../src/policy/local-policy.js";
import type { Sequence } from "../../../src/policy/policy.js";
import { Random } from "../../../src/base/random/random.js";
import { ready } from "../../../src/tensor/backends.js";
import { modelConfig } from "../../../src/model/config.js";
import type { MachineLimits } from "../../../src/tensor/profile/machine.js";
import type { Figure } from "../figure.js";
import { decodeLimit } from "./least-times.js";

const sizes = {
  small: {
    ...{ hiddenSize: 128, layers: 4, heads: 4, kvHeads: 2, intermediateSize: 384 },
    ...{ vocabSize: 1024, steps: 128 },
  },
  large: {
    ...{ hiddenSize: 512, layers: 8, heads: 8, kvHeads: 4, intermediateSize: 1408 },
    ...{ vocabSize: 4096, steps: 32 },
  },
};
const rowsAtOnce = 64;
const prefixLength = 1000;
const branches = 16;
const branchLength = 64;

/** A tokenizer without end tokens, so that every sequence runs its full length. */
function endless(vocabSize: number): Tokenizer {
  return {
    vocabSize,
    eosId: -1,
    eosIds: [],
    padId: 0,
    encode: (text) => [...text].map((character) => character.codePointAt(0)! % vocabSize),
    decode: (ids) => Array.from(ids, (id) => String.fromCodePoint(id)).join(""),
    chat: (messages) => messages.map(({ content }) => content).join(""),
  };
}

function policyOf(size: keyof typeof sizes): { policy: LocalPolicy; decoder: Decoder } {
  const { vocabSize, hiddenSize, intermediateSize, layers, heads, kvHeads } = sizes[size];
  const model = Model.init(
    {
      ...{ vocabSize, hiddenSize, intermediateSize, layers, heads, kvHeads },
      ...{ contextLength: 2048, initializerRange: 0.05 },
    },
    1,
  );
  const decoder = makeDecoder(model);
  model.dispose();
  return {
    policy: new LocalPolicy({ name: size, tokenizer: endless(vocabSize), decoder }),
    decoder,
  };
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;

/** Tokens per second of 64 sequences from an empty cache. */
async function decodeSpeed(size: keyof typeof sizes, repeats = 5): Promise<number> {
  const { policy } = policyOf(size);
  const { steps } = sizes[size];
  const seconds: number[] = [];
  for (let repeat = -1; repeat < repeats; repeat++) {
    const session = policy.session();
    const rows = Array.from({ length: rowsAtOnce }, () => session.open([0]));
    const start = performance.now();
    await Promise.all(
      rows.map((row, i) => session.generate(row, { maxTokens: steps, random: Random.from(i) })),
    );
    if (repeat >= 0) seconds.push((performance.now() - start) / 1000);
    session.dispose();
  }
  policy.dispose();
  return (rowsAtOnce * steps) / median(seconds);
}

/** Time and cache of 16 branches that share a prefix, and of 16 sequences that do not. */
async function forkCost(repeats = 5) {
  const { policy, decoder } = policyOf("small");
  const random = Random.from(2);
  const prefix = Array.from({ length: prefixLength }, () => random.integer(1024));
  const session = policy.session();
  const prefilled = async () => {
    const row = session.open(prefix);
    await session.generate(row, { maxTokens: 1, random: Random.from(0) });
    return row;
  };
  const decode = (rows: Sequence[]) =>
    Promise.all(
      rows.map((row, i) =>
        session.generate(row, { maxTokens: branchLength, random: Random.from(i) }),
      ),
    );
  const shared: number[] = [];
  const apart: number[] = [];
  let [sharedBytes, apartBytes] = [0, 0];
  for (let repeat = -1; repeat < repeats; repeat++) {
    const stem = await prefilled();
    let start = performance.now();
    const forks = Array.from({ length: branches }, () => session.fork(stem));
    await decode(forks);
    if (repeat >= 0) shared.push(performance.now() - start);
    sharedBytes = decoder.bytes();
    for (const row of [stem, ...forks]) session.close(row);

    const rows: Sequence[] = [];
    for (let i = 0; i < branches; i++) rows.push(await prefilled());
    start = performance.now();
    await decode(rows);
    if (repeat >= 0) apart.push(performance.now() - start);
    apartBytes = decoder.bytes();
    for (const row of rows) session.close(row);
  }
  const left = decoder.bytes();
  if (left !== 0) throw new Error(`Cannot measure: the cache must be empty, got ${left} bytes`);
  policy.dispose();
  return { ratio: median(shared) / median(apart), sharedBytes, apartBytes };
}

/** Decoding at one size, beside the PyTorch baseline where it ran. */
export async function decodeFigure(
  size: keyof typeof sizes,
  torch: { version: string; decode_tok_s: number } | undefined,
  limits: MachineLimits | undefined,
): Promise<Figure> {
  const backend = await ready();
  const value = await decodeSpeed(size);
  const baseline = torch && {
    baseline: `torch ${torch.version}`,
    baselineValue: torch.decode_tok_s,
    ratio: value / torch.decode_tok_s,
  };
  const { steps, ...shape } = sizes[size];
  // Half way through; each sequence has its own positions.
  const step = { dtype: "float32", rows: rowsAtOnce, tokens: 1, shared: 0 } as const;
  const least =
    limits && decodeLimit(modelConfig(shape), { ...step, positions: steps / 2 }, limits);
  return {
    name: `engine.${size}.decode_tok_s`,
    ...(least && { share: (value * least) / rowsAtOnce }),
    ...{ value: Math.round(value), unit: "tok/s", backend },
    ...baseline,
  };
}

/** What forking costs, in time and memory. */
export async function* forkFigures(): AsyncIterable<Figure> {
  const backend = await ready();
  const { ratio, sharedBytes, apartBytes } = await forkCost();
  yield { name: "engine.fork_ratio", value: ratio, unit: "times", backend };
  yield {
    name: "engine.fork_cache_mb",
    ...{ value: sharedBytes / 2 ** 20, unit: "MB", backend },
    ...{
      baseline: "unshared",
      baselineValue: apartBytes / 2 ** 20,
      ratio: sharedBytes / apartBytes,
    },
  };
}
