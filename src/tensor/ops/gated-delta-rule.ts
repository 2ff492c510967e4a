import { tf } from "../tfjs.js";

/** The positions that are computed together; the state goes from one such chunk to the next. */
export const CHUNK = 64;

/** One [size, size] matrix of 0 and 1, as often as there are matrices. */
function masks(count: number, size: number, holds: (i: number, j: number) => boolean): tf.Tensor3D {
  const one = Float32Array.from({ length: size * size }, (_, at) =>
    Number(holds(Math.floor(at / size), at % size)),
  );
  const all = new Float32Array(count * one.length);
  for (let i = 0; i < count; i++) all.set(one, i * one.length);
  return tf.tensor3d(all, [count, size, size]);
}

/** x [count, rows] with each number repeated along a last axis. Products do it faster than tfjs's broadcasting. */
const along = (x: tf.Tensor, width: number): tf.Tensor3D =>
  tf.matMul(x.reshape([x.shape[0]!, x.shape[1]!, 1]), tf.ones([1, 1, width]));

/** x [count, columns] with all of it repeated as rows. */
const down = (x: tf.Tensor, rows: number): tf.Tensor3D =>
  tf.matMul(tf.ones([1, rows, 1]), x.reshape([x.shape[0]!, 1, x.shape[1]!]));

/**
 * (I + L)^-1 of strictly lower triangular matrices [count, size, size], size being a power of 2: blocks of 1, 2, 4, ...
 * are inverted from those of half their size, which loses no more than substitution does.
 */
function inverse(lower: tf.Tensor3D): tf.Tensor3D {
  return tf.customGrad((...args) => {
    const [given, save] = args as unknown as [tf.Tensor3D, (tensors: tf.Tensor[]) => void];
    const [count, size] = given.shape;
    let found = masks(count, size, (i, j) => i === j);
    for (let half = 1; half < size; half *= 2) {
      const left = masks(
        count,
        size,
        (i, j) =>
          Math.floor(i / half) === Math.floor(j / half) + 1 && Math.floor(j / half) % 2 === 0,
      );
      const blocks = given.mul<tf.Tensor3D>(left);
      found = found.sub(tf.matMul(tf.matMul(found, blocks), found));
    }
    save([found]);
    return {
      value: found,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const made = saved[0] as tf.Tensor3D;
        return tf.matMul(tf.matMul(made, dy as tf.Tensor3D, true), made, false, true).neg();
      },
    };
  })(lower) as tf.Tensor3D;
}

/** What the rule is given of `lines` lines, cut into chunks, the first chunks of all lines first. */
export interface DeltaGiven {
  /** Queries and keys [chunks * lines, size, keyDim], as they are multiplied. */
  q: tf.Tensor3D;
  k: tf.Tensor3D;
  /** Values [chunks * lines, size, valueDim]. */
  v: tf.Tensor3D;
  /** ln of what the state is multiplied by at each position [chunks * lines, size], at most 0. */
  decay: tf.Tensor2D;
  /** How much of a value is written [chunks * lines, size]. */
  beta: tf.Tensor2D;
}

/**
 * The gated delta rule: a state S [keyDim, valueDim] for each line, 0 at its beginning, where each position first
 * multiplies S by exp(decay), then adds k (beta (v - k S)) and gives q S. Chunk by chunk, as transformers computes it:
 * within a chunk the positions' corrections are the solution of a triangular system. `size` is a power of 2.
 * Differentiable in all. Gives [chunks * lines, size, valueDim].
 */
export function gatedDeltaRule({ q, k, v, decay, beta }: DeltaGiven, lines: number): tf.Tensor3D {
  const [count, size, keyDim] = q.shape;
  const valueDim = v.shape[2];
  const chunks = count / lines;
  const triangle = (holds: (i: number, j: number) => boolean): tf.Tensor2D =>
    masks(1, size, holds).reshape([size, size]);
  // From the chunk's beginning to a position, and from a position to the chunk's end.
  const since = tf.matMul(
    decay,
    triangle((from, to) => from <= to),
  );
  const until = tf.matMul(
    decay,
    triangle((from, to) => from > to),
  );
  const ones = tf.onesLike(since).expandDims(2);
  const between = tf.matMul(
    tf.concat([since.expandDims(2), ones], 2),
    tf.concat([ones, since.neg().expandDims(2)], 2),
    false,
    true,
  );
  // Above the diagonal, where nothing is seen, it would be above 0.
  const pairs = between.minimum(0).exp();
  const before = pairs.mul(masks(count, size, (i, j) => i > j));
  const upTo = pairs.mul(masks(count, size, (i, j) => i >= j));
  const system = tf.matMul(k, k, false, true).mul(before).mul<tf.Tensor3D>(along(beta, size));
  const solved = inverse(system);
  const values = tf.matMul(solved.mul<tf.Tensor3D>(down(beta, size)), v);
  const written = solved.mul<tf.Tensor3D>(down(beta.mul(since.exp()), size));
  const known = tf.matMul(written, k);
  const seen = tf.matMul(q, k, false, true).mul(upTo);
  const asked = q.mul(along(since.exp(), keyDim));
  const kept = k.mul(along(until.exp(), keyDim));
  const fade = along(tf.sum(decay, 1, true).exp(), keyDim * valueDim);

  // The gradient of tfjs's `unstack` does not know how to stack a single tensor.
  const chunksOf = (x: tf.Tensor, ...shape: [number, number]): tf.Tensor3D[] =>
    chunks === 1
      ? [x.reshape([lines, ...shape])]
      : (tf.unstack(x.reshape([chunks, lines, ...shape])) as tf.Tensor3D[]);
  const parts = {
    values: chunksOf(values, size, valueDim),
    known: chunksOf(known, size, keyDim),
    seen: chunksOf(seen, size, size),
    asked: chunksOf(asked, size, keyDim),
    kept: chunksOf(kept, size, keyDim),
    fade: chunksOf(fade, keyDim, valueDim),
  };
  let state: tf.Tensor3D | undefined;
  const found: tf.Tensor3D[] = [];
  for (let c = 0; c < chunks; c++) {
    const fresh: tf.Tensor3D = state
      ? parts.values[c]!.sub(tf.matMul(parts.known[c]!, state))
      : parts.values[c]!;
    const own: tf.Tensor3D = tf.matMul(parts.seen[c]!, fresh);
    found.push(state ? own.add(tf.matMul(parts.asked[c]!, state)) : own);
    const added: tf.Tensor3D = tf.matMul(parts.kept[c]!, fresh, true);
    state = state ? state.mul<tf.Tensor3D>(parts.fade[c]!).add(added) : added;
  }
  return tf.concat(found, 0);
}
