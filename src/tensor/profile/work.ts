import type { EngineFunctions } from "../engine/engine-functions.js";

/** What a call has to do: operations (a product and its sum are two), and bytes it reads and writes. */
export interface Work {
  operations: number;
  bytes: number;
}

const product = (m: number, n: number, k: number): number => 2 * m * n * k;
const floats = (...counts: number[]): number => 4 * counts.reduce((a, b) => a + b);

/** Numbers of the keys that each query sees, for all queries of `time`. */
const seen = (time: number): number => (time * (time + 1)) / 2;

/** How many tokens are queries, and numbers of the keys that they see; rows may share tokens. */
function queries(
  lengths: Int32Array | null,
  unfold: Int32Array | null,
  batch: number,
  time: number,
): { tokens: number; seen: number } {
  if (!unfold) return { tokens: batch * time, seen: batch * seen(time) };
  let [tokens, pairs] = [0, 0];
  for (let b = 0; b < batch; b++) {
    const length = lengths?.[b] ?? time;
    let start = 0;
    while (start < length && unfold[b * time + start]! < tokens) start++;
    tokens += length - start;
    pairs += seen(length) - seen(start);
  }
  return { tokens, seen: pairs };
}

type Counts = {
  [K in keyof EngineFunctions]?: (...given: Parameters<EngineFunctions[K]>) => Work;
};

const total = (counts: Int32Array): number => counts.reduce((a, b) => a + b, 0);

/**
 * What each function of the engine must do at least: what it does again to save memory does not count, nor
 * does what it reads a second time. Operations outside of matrix products do not count either.
 */
const counts: Counts = {
  matmul: (...[, , , , , , , , , , , batch, m, n, k, , accumulate]) => {
    const [b, rows, columns, steps] = [batch, m, n, k].map(Number) as [
      number,
      number,
      number,
      number,
    ];
    const written = b * rows * columns * (accumulate ? 2 : 1);
    return {
      operations: b * product(rows, columns, steps),
      bytes: floats(b * rows * steps, b * steps * columns, written),
    };
  },
  binary: (_operation, _a, aStep, _b, bStep, _out, count) => ({
    operations: 0,
    bytes: floats(Number(count) * (1 + Number(aStep) + Number(bStep))),
  }),
  add_bias: (_rows, _bias, count, width) => ({
    operations: 0,
    bytes: floats(2 * Number(count) * Number(width)),
  }),
  column_sum: (_rows, _sums, count, width) => ({
    operations: 0,
    bytes: floats(Number(count) * Number(width)),
  }),
  rms_norm: (_x, _weight, _y, _inverse, rows, width) => ({
    operations: 0,
    bytes: floats(2 * Number(rows) * Number(width)),
  }),
  rms_norm_grad: (_dy, _x, _weight, _inverse, _dx, _dweight, rows, width) => ({
    operations: 0,
    bytes: floats(3 * Number(rows) * Number(width)),
  }),
  rope: (_x, _y, _cos, _sin, batch, time, heads, width) => ({
    operations: 0,
    bytes: floats(2 * Number(batch) * Number(time) * Number(heads) * Number(width)),
  }),
  attention: (...[, , , lengths, unfold, , , batch, time, heads, kvHeads, width]) => {
    const { tokens, seen } = queries(lengths, unfold, Number(batch), Number(time));
    const each = tokens * Number(width);
    return {
      operations: 4 * Number(heads) * seen * Number(width),
      bytes: floats(2 * each * Number(heads), 2 * each * Number(kvHeads)),
    };
  },
  attention_grad: (...[, , , , lengths, unfold, , , , , , batch, time, heads, kvHeads, width]) => {
    const { tokens, seen } = queries(lengths, unfold, Number(batch), Number(time));
    const each = tokens * Number(width);
    return {
      operations: 8 * Number(heads) * seen * Number(width),
      bytes: floats(4 * each * Number(heads), 4 * each * Number(kvHeads)),
    };
  },
  swiglu: (_gate, _up, _out, count) => ({ operations: 0, bytes: floats(3 * Number(count)) }),
  swiglu_grad: (_dout, _gate, _up, _dgate, _dup, count) => ({
    operations: 0,
    bytes: floats(5 * Number(count)),
  }),
  embed: (_table, _ids, _out, rows, width) => ({
    operations: 0,
    bytes: floats(2 * Number(rows) * Number(width)),
  }),
  embed_grad: (_dout, _ids, _dtable, rows, width, vocabulary) => ({
    operations: 0,
    bytes: floats(Number(rows) * Number(width), Number(vocabulary) * Number(width)),
  }),
  log_prob_entropy: (...[, , , , , , rows, width, vocabulary]) => ({
    operations: product(Number(rows), Number(vocabulary), Number(width)),
    bytes: floats((Number(rows) + Number(vocabulary)) * Number(width)),
  }),
  log_prob_entropy_grad: (...[, , , , , , , , dhead, rows, width, vocabulary]) => ({
    operations: (dhead ? 2 : 1) * product(Number(rows), Number(vocabulary), Number(width)),
    bytes: floats(
      2 * Number(rows) * Number(width),
      (dhead ? 2 : 1) * Number(vocabulary) * Number(width),
    ),
  }),
  top_k: (_hidden, _head, _logprobs, _ids, rows, width, vocabulary) => ({
    operations: product(Number(rows), Number(vocabulary), Number(width)),
    bytes: floats((Number(rows) + Number(vocabulary)) * Number(width)),
  }),
  square_sum: (_arrays, sizes) => ({ operations: 0, bytes: floats(total(sizes)) }),
  adamw: (_parameters, _gradients, _m, _v, sizes) => ({
    operations: 0,
    bytes: floats(7 * total(sizes)),
  }),
};

/** What a call of an engine function must do, where that follows from its arguments. */
export function workOf(name: keyof EngineFunctions, given: readonly unknown[]): Work {
  const count = counts[name] as ((...given: readonly unknown[]) => Work) | undefined;
  return count ? count(...given) : { operations: 0, bytes: 0 };
}
