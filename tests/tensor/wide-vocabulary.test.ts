// Log-probabilities over an output matrix too large to be prepared as a whole, in float64 beside them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineBackend } from "../../src/tensor/engine/engine-backend.js";
import { logProbEntropyFromHidden } from "../../src/tensor/ops/log-prob-entropy-from-hidden.js";
import { tf } from "../../src/tensor/tf.js";

const [rows, width, vocabulary, temperature] = [5, 1024, 24_001, 0.9];

/** Numbers between -1 and 1, in no order. */
function values(count: number, seed: number): Float32Array {
  const out = new Float32Array(count);
  let state = seed;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    out[i] = state / 2 ** 31;
  }
  return out;
}

const hidden = values(rows * width, 1).map((x) => x / 4);
const head = values(vocabulary * width, 2);
// The first and the last word among them.
const labels = Int32Array.of(0, 1439, 1440, 24_000, 12_345);
const slopes = { logprobs: [1, -0.5, 2, 0.25, -1], entropies: [0.5, 1, -1, 0.75, 0.1] };

/** ln p, entropy and the gradients of the mixture of both, by their definitions. */
function defined() {
  const dhidden = new Float64Array(rows * width);
  const dword = new Map(labels.reduce((all, l) => [...all, [l, new Float64Array(width)] as const], [] as (readonly [number, Float64Array])[])); // prettier-ignore
  const found = Array.from({ length: rows }, (_, r) => {
    const z = new Float64Array(vocabulary);
    for (let i = 0; i < vocabulary; i++) {
      let sum = 0;
      for (let p = 0; p < width; p++) sum += hidden[r * width + p]! * head[i * width + p]!;
      z[i] = sum / temperature;
    }
    const top = z.reduce((a, b) => Math.max(a, b));
    const log = top + Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0));
    const entropy = z.reduce((sum, x) => sum - Math.exp(x - log) * (x - log), 0);
    for (let i = 0; i < vocabulary; i++) {
      const [lp, p] = [z[i]! - log, Math.exp(z[i]! - log)];
      const dz =
        slopes.logprobs[r]! * ((i === labels[r] ? 1 : 0) - p) -
        slopes.entropies[r]! * p * (lp + entropy);
      for (let j = 0; j < width; j++) {
        dhidden[r * width + j]! += (dz * head[i * width + j]!) / temperature;
      }
      const word = dword.get(i);
      if (word)
        for (let j = 0; j < width; j++) word[j]! += (dz * hidden[r * width + j]!) / temperature;
    }
    return { logprob: z[labels[r]!]! - log, entropy };
  });
  return { found, dhidden, dword };
}

const close = (a: number, b: number, size: number, what: string) =>
  assert.ok(Math.abs(a - b) <= 1e-5 * size, `${what}: ${a} for ${b}`);
const same = (a: Float32Array | undefined, b: Float32Array) =>
  assert.ok(Buffer.from(a!.buffer).equals(Buffer.from(b.buffer)), "the same bytes");
const backends = ["native", "wasm"].filter((name) => tf.findBackendFactory(name));
const wanted = backends.length > 0 ? defined() : undefined;

for (const backend of backends) {
  test(`logProbEntropyFromHidden() over many words on ${backend} is what float64 gives`, async () => {
    await tf.setBackend(backend);
    const { call } = (tf.backend() as EngineBackend).engine;
    const threads = call.threads!();
    const run = (first: number, count: number, frozen: boolean) => {
      const made = tf.tidy(() => {
        const [h, w] = [tf.tensor2d(hidden.slice(first * width, (first + count) * width), [count, width]), tf.tensor2d(head, [vocabulary, width])]; // prettier-ignore
        const part = (x: ArrayLike<number>) =>
          Array.from({ length: count }, (_, i) => x[first + i]!);
        const results = (x: tf.Tensor, y: tf.Tensor) =>
          logProbEntropyFromHidden(x, y, tf.tensor1d(part(labels), "int32"), temperature, frozen);
        const loss = (x: tf.Tensor, y: tf.Tensor) => {
          const { logprobs, entropies } = results(x, y);
          return logprobs.mul(part(slopes.logprobs)).sum().add(entropies.mul(part(slopes.entropies)).sum()); // prettier-ignore
        };
        const { logprobs, entropies } = results(h, w);
        const gradients = frozen ? [tf.grad((x) => loss(x, w))(h)] : tf.grads(loss)([h, w]);
        return [logprobs, entropies, ...gradients];
      });
      const read = made.map((t) => t.dataSync().slice() as Float32Array);
      tf.dispose(made);
      return read;
    };
    const [logprobs, entropies, dhidden, dhead] = run(0, rows, false);
    wanted!.found.forEach(({ logprob, entropy }, r) => {
      close(logprobs![r]!, logprob, 10, `ln p of row ${r}`);
      close(entropies![r]!, entropy, 10, `entropy of row ${r}`);
    });
    wanted!.dhidden.forEach((x, i) => close(dhidden![i]!, x, 2, `gradient of hidden ${i}`));
    for (const [word, slope] of wanted!.dword) {
      slope.forEach((x, i) => close(dhead![word * width + i]!, x, 2, `gradient of word ${word}`));
    }
    // The same bytes without the head's gradient, for a row alone and on any number of threads.
    for (const [first, count, workers] of [
      [0, rows, 1],
      [3, 1, 3],
    ] as const) {
      call.set_threads!(workers);
      const [l, e, d] = run(first, count, true);
      same(l, logprobs!.slice(first, first + count));
      same(e, entropies!.slice(first, first + count));
      same(d, dhidden!.slice(first * width, (first + count) * width));
    }
    call.set_threads!(threads);
  });
}
