import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import { tf } from "../../src/tensor/tf.js";
import type { EngineBackend } from "../../src/tensor/engine/engine-backend.js";

const backends = ["native", "wasm"].filter((name) => tf.findBackendFactory(name));

async function engineOf(name: string) {
  await tf.setBackend(name);
  return (tf.backend() as EngineBackend).engine;
}

function draw(random: Random, size: number): Float32Array {
  return Float32Array.from({ length: size }, () => random.normal());
}

function sameBytes(a: Float32Array, b: Float32Array): boolean {
  const bytes = (x: Float32Array) => Buffer.from(x.buffer, x.byteOffset, x.byteLength);
  return bytes(a).equals(bytes(b));
}

for (const name of backends) {
  test(`matmul on ${name} equals a naive loop over odd shapes`, async () => {
    const { call } = await engineOf(name);
    const random = Random.from(3).split("gemm");
    const sizes = [1, 2, 3, 5, 8, 17, 31, 48, 49, 97, 130]; // and 300 steps, more than one block of k;
    for (let i = 0; i < 40; i++) {
      const [m, n] = [random.choose(sizes), random.choose(sizes)];
      const k = i % 8 === 0 ? 300 : random.choose(sizes);
      const flip = () => random.integer(2) === 1;
      const [ta, tb, add] = [flip(), flip(), flip()];
      const [a, b, c] = [draw(random, m * k), draw(random, k * n), draw(random, m * n)];
      const before = c.slice();
      // prettier-ignore
      call.matmul(a, ta ? m : k, ta, 0, b, tb ? k : n, tb, 0, c, n, 0, 1, m, n, k, 0.5, add);
      for (let row = 0; row < m; row++) {
        for (let column = 0; column < n; column++) {
          let sum = 0;
          for (let p = 0; p < k; p++) {
            sum +=
              (ta ? a[p * m + row]! : a[row * k + p]!) *
              (tb ? b[column * k + p]! : b[p * n + column]!);
          }
          const wanted = 0.5 * sum + (add ? before[row * n + column]! : 0);
          const error = Math.abs(c[row * n + column]! - wanted);
          assert.ok(
            error < 1e-5 * (k + 1),
            `${m} x ${n} x ${k}, ${ta} ${tb} ${add}: off by ${error}`,
          );
        }
      }
    }
  });

  test(`matmul on ${name} gives a row the same bytes alone, in a batch, on any threads`, async () => {
    const { call } = await engineOf(name);
    const threads = call.threads();
    const random = Random.from(4).split("invariance");
    for (const [m, n, k] of [
      [130, 200, 300],
      [517, 97, 64],
      [64, 1024, 700],
    ] as const) {
      for (const transposed of [false, true]) {
        const [a, b] = [draw(random, m * k), draw(random, k * n)];
        const product = (rows: Float32Array, count: number) => {
          const c = new Float32Array(count * n);
          // prettier-ignore
          call.matmul(
            rows, k, false, 0, b, transposed ? k : n, transposed, 0, c, n, 0, 1, count, n, k, 1, false,
          );
          return c;
        };
        const whole = product(a, m);
        for (const count of [1, 3, 8, 29]) {
          const part = product(a.subarray(5 * k, (5 + count) * k), count);
          assert.ok(sameBytes(part, whole.subarray(5 * n, (5 + count) * n)));
        }
        for (const other of [1, 3]) {
          call.set_threads(other);
          assert.ok(sameBytes(product(a, m), whole));
        }
        call.set_threads(threads);
      }
    }
  });

  test(`${name} refuses arguments of the wrong type`, async () => {
    const call = (await engineOf(name)).call as unknown as Record<string, (x: unknown) => void>;
    assert.throws(() => call["top_k"]!("x"), TypeError);
    assert.throws(() => call["column_sum"]!(new Float32Array(1)), TypeError);
  });
}

test("a tensor survives looks by inherited kernels and reuse of its neighbours' memory", async () => {
  for (const name of backends) {
    await tf.setBackend(name);
    tf.tidy(() => {
      const a = tf.add(tf.ones([400]), tf.ones([400]));
      const held = a.dataSync();
      const part = a.slice([100], [10]);
      a.dispose();
      for (let i = 0; i < 8; i++) tf.add(tf.zeros([400]), tf.zeros([400])).dispose();
      tf.add(tf.zeros([400]), tf.zeros([400]));
      assert.ok(part.dataSync().every((x) => x === 2));
      assert.ok(held.every((x) => x === 2));
    });
  }
});
