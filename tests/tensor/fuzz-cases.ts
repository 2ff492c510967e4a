import { Random } from "../../src/base/random/random.js";
import { causalAttention } from "../../src/tensor/ops/causal-attention.js";
import { embed } from "../../src/tensor/ops/embed.js";
import { adaptedLinear, linear } from "../../src/tensor/ops/linear.js";
import { logProbEntropyFromHidden } from "../../src/tensor/ops/log-prob-entropy-from-hidden.js";
import { qkv } from "../../src/tensor/ops/qkv.js";
import type { QkvWeights } from "../../src/tensor/plain.js";
import { rmsNorm } from "../../src/tensor/ops/rms-norm.js";
import { rope } from "../../src/tensor/ops/rope.js";
import { swiglu } from "../../src/tensor/ops/swiglu.js";
import { type OpCase, sharedCase } from "./op-cases.js";

/** Other shapes are drawn for another number. */
const random = Random.from(Number(process.env["ARPO_LAB_FUZZ"] ?? 18));

function pick<T>(from: readonly T[]): T {
  return from[random.integer(from.length)]!;
}
const odd = [1, 2, 3, 5, 16, 17, 31, 33, 63, 64, 65, 77];
const ids = (count: number, below: number) =>
  Array.from({ length: count }, () => random.integer(below));

function linearCase(name: string): OpCase {
  const [rows, inputs, outputs] = [pick(odd), pick(odd), pick(odd)];
  const biased = random.uniform() < 0.5;
  return {
    name,
    shapes: {
      x: [rows, inputs],
      weight: [outputs, inputs],
      ...(biased ? { bias: [outputs] } : {}),
    },
    run: ({ x, weight, bias }) => [linear(x!, weight!, bias)],
  };
}

function normCase(name: string): OpCase {
  const width = pick([1, 7, 64, 65, 130, 200]);
  return {
    name,
    shapes: { x: [pick(odd), width], weight: [width] },
    run: ({ x, weight }) => [rmsNorm(x!, weight!, 1e-5)],
  };
}

function qkvCase(name: string): OpCase {
  const kvHeads = pick([1, 2, 3]);
  const heads = kvHeads * pick([1, 2, 4]);
  const headDim = pick([2, 6, 16, 34]);
  const [rows, time, width] = [pick([1, 2, 3]), pick([1, 4, 9]), pick([5, 18, 65])];
  const [q, k] = [heads * headDim, kvHeads * headDim];
  const biased = random.uniform() < 0.5;
  const normed = random.uniform() < 0.5;
  const shape = { heads, kvHeads, headDim, epsilon: 1e-5 };
  return {
    name,
    shapes: {
      ...{ x: [rows, time, width], wq: [q, width], wk: [k, width], wv: [k, width] },
      ...(biased ? { bq: [q], bk: [k], bv: [k] } : {}),
      ...(normed ? { qNorm: [headDim], kNorm: [headDim] } : {}),
      ...{ cos: [time + 1, headDim / 2], sin: [time + 1, headDim / 2] },
    },
    run({ x, cos, sin, ...weights }) {
      const turned = qkv(x!, weights as unknown as QkvWeights, cos!, sin!, shape);
      return [turned.q, turned.k, turned.v];
    },
  };
}

function attentionCase(name: string, headDim: number): OpCase {
  const kvHeads = pick([1, 2]);
  const heads = kvHeads * pick([1, 2, 3]);
  const [rows, time] = [pick([1, 2, 3]), pick([1, 8, 31, 33, 50])];
  const ragged = random.uniform() < 0.6;
  const lengths = Array.from({ length: rows }, () => random.integer(time + 1));
  return {
    name,
    shapes: {
      q: [rows, time, heads, headDim],
      k: [rows, time, kvHeads, headDim],
      v: [rows, time, kvHeads, headDim],
    },
    ...(ragged ? { ids: { lengths: { shape: [rows], values: lengths } } } : {}),
    run: ({ q, k, v, lengths }) => [causalAttention(q!, k!, v!, lengths)],
  };
}

/** Rows that leave earlier ones at some place, as trees do, or begin anew. */
function sharedAttentionCase(name: string, headDim: number): OpCase {
  const rows: number[][] = [];
  let token = 0;
  for (let r = 0; r < 1 + random.integer(7); r++) {
    const from = rows.length > 0 && random.uniform() < 0.8 ? pick(rows) : [];
    const row = from.slice(0, random.integer(from.length + 1));
    const more = pick([0, 1, 5, 17, 40, 70]);
    for (let t = 0; t < more || row.length === 0; t++) row.push(token++);
    rows.push(row);
  }
  const window = random.uniform() < 0.3 ? pick([1, 4, 50]) : undefined;
  return sharedCase(name, rows, {
    ...{ headDim, kvHeads: pick([1, 2]), group: pick([1, 2, 3]) },
    ...(window !== undefined && { window }),
  });
}

function ropeCase(name: string): OpCase {
  const [rows, time, heads, half] = [pick([1, 3]), pick([1, 5]), pick([1, 3]), pick([1, 5, 16])];
  return {
    name,
    shapes: { x: [rows, time, heads, 2 * half], cos: [time, half], sin: [time, half] },
    run: ({ x, cos, sin }) => [rope(x!, cos!, sin!)],
  };
}

function swigluCase(name: string): OpCase {
  const shape = [pick(odd), pick(odd)];
  return { name, shapes: { gate: shape, up: shape }, run: ({ gate, up }) => [swiglu(gate!, up!)] };
}

function embedCase(name: string): OpCase {
  const [vocabulary, width, count] = [pick([1, 9, 100]), pick([1, 13, 70]), pick([1, 12, 90])];
  return {
    name,
    shapes: { table: [vocabulary, width] },
    ids: { ids: { shape: [count], values: ids(count, vocabulary) } },
    run: ({ table, ids: at }) => [embed(table!, at!)],
  };
}

function wordsCase(name: string, rows: number, width: number, vocabulary: number): OpCase {
  const temperature = pick([0.6, 1, 1.7]);
  const frozen = random.uniform() < 0.3;
  return {
    name,
    shapes: { hidden: [rows, width], head: [vocabulary, width] },
    ids: { labels: { shape: [rows], values: ids(rows, vocabulary) } },
    run({ hidden, head, labels }) {
      const found = logProbEntropyFromHidden(hidden!, head!, labels!, temperature, frozen);
      return [found.logprobs, found.entropies];
    },
  };
}

function adaptedCase(name: string, count: number): OpCase {
  const [rows, inputs, rank] = [pick(odd), pick(odd), pick([1, 4, 16, 65])];
  const biased = random.uniform() < 0.5;
  const scale = pick([0.5, 2]);
  const all = Array.from({ length: count }, (_, i) => ({ i, outputs: pick(odd) }));
  const shapes: Record<string, number[]> = { x: [rows, inputs] };
  for (const { i, outputs } of all) {
    Object.assign(shapes, { [`w${i}`]: [outputs, inputs], [`a${i}`]: [rank, inputs] });
    Object.assign(shapes, { [`b${i}`]: [outputs, rank] });
    if (biased && count !== 2) shapes[`bias${i}`] = [outputs];
  }
  return {
    name,
    shapes,
    fixed: all.flatMap(({ i }) => [`w${i}`, `bias${i}`]),
    run: ({ x, ...given }) =>
      adaptedLinear(
        x!,
        all.map(({ i }) => ({
          weight: given[`w${i}`]!,
          bias: given[`bias${i}`],
          a: given[`a${i}`]!,
          b: given[`b${i}`]!,
        })),
        scale,
      ),
  };
}

/** Random shapes of every fused op, awkward on purpose; the same at every call. */
export const fuzzCases: readonly OpCase[] = [
  ...Array.from({ length: 8 }, (_, i) => linearCase(`linear ${i}`)),
  ...Array.from({ length: 4 }, (_, i) => normCase(`norm ${i}`)),
  ...Array.from({ length: 6 }, (_, i) => qkvCase(`qkv ${i}`)),
  ...[32, 33, 48, 64, 80, 96, 128, 1, 7].map((dim) => attentionCase(`attention of ${dim}`, dim)),
  ...Array.from({ length: 2 }, (_, i) => ropeCase(`rope ${i}`)),
  ...Array.from({ length: 2 }, (_, i) => swigluCase(`swiglu ${i}`)),
  ...Array.from({ length: 4 }, (_, i) => embedCase(`embed ${i}`)),
  ...Array.from({ length: 4 }, (_, i) =>
    wordsCase(`words ${i}`, pick([1, 5, 65]), pick([3, 17, 40]), pick([2, 63, 65, 300])),
  ),
  ...[1, 1, 2, 2, 3, 3].map((count, i) => adaptedCase(`adapters of ${count}, ${i}`, count)),
  wordsCase("150,000 words", 2, 3, 150_000),
  ...[32, 33, 48, 64, 80, 96, 128, 1, 7].map((dim) =>
    sharedAttentionCase(`shared attention of ${dim}`, dim),
  ),
];
