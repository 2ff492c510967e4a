import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../src/base/random/random.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { packHalf, unpackHalf } from "../../src/model/files/half.js";
import { addLora } from "../../src/model/lora/add-lora.js";
import type { EngineBackend } from "../../src/tensor/engine/engine-backend.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { inMatmulPrecision, matmulPrecision } from "../../src/tensor/matmul-precision.js";
import { tf } from "../../src/tensor/tf.js";

const config = { vocabSize: 301, hiddenSize: 64, intermediateSize: 160, layers: 2, heads: 4, kvHeads: 2 }; // prettier-ignore
const random = Random.from(8);
const draw = (count: number) => Float32Array.from({ length: count }, () => random.normal());

function rounded(x: Float32Array): Float32Array {
  const out = new Float32Array(x.length);
  unpackHalf(packHalf(x, "bfloat16"), "bfloat16", out);
  return out;
}

for (const backend of ["native", "wasm"].filter((name) => tf.findBackendFactory(name))) {
  test(`products on ${backend} in bfloat16 are those of rounded factors, whatever is transposed`, async () => {
    await tf.setBackend(backend);
    const { engine } = tf.backend() as EngineBackend;
    const shapes = [
      [1, 48, 64],
      [5, 33, 65],
      [9, 100, 513],
      [70, 50, 1100],
    ] as const;
    for (const [m, n, k] of shapes) {
      for (const [ta, tb, accumulate] of [
        [0, 0, 0],
        [0, 1, 1],
        [1, 0, 1],
        [1, 1, 0],
      ] as const) {
        const [a, b] = [draw(m * k), draw(n * k)];
        // Below the normal numbers, and a tie, which goes to the even one.
        [a[3], b[5]] = [1e-39, 1 + 2 ** -8];
        const c = new Float32Array(m * n).fill(3);
        const multiply = (rows: number, from: Float32Array, to: Float32Array) => {
          const [x, y, z] = [engine.upload(from), engine.upload(b), engine.upload(to)];
          // prettier-ignore
          inMatmulPrecision("bfloat16", () => engine.call.matmul(
            x, ta ? rows : k, ta, 0, y, tb ? k : n, tb, 0, z, n, 0, 1, rows, n, k, 0.5, accumulate,
          ));
          to.set(engine.read(z));
          for (const each of [x, y, z]) engine.release(each);
        };
        multiply(m, a, c);
        const [ra, rb] = [rounded(a), rounded(b)];
        for (let i = 0; i < m; i++) {
          for (let j = 0; j < n; j++) {
            let sum = 0;
            for (let p = 0; p < k; p++) {
              sum += ra[ta ? p * m + i : i * k + p]! * rb[tb ? j * k + p : p * n + j]!;
            }
            const wanted = sum / 2 + (accumulate ? 3 : 0);
            const got = c[i * n + j]!;
            assert.ok(Math.abs(got - wanted) < 1e-4, `${m}x${n}x${k}: ${got} for ${wanted}`);
          }
        }
        if (ta) continue;
        const alone = new Float32Array(n).fill(3);
        multiply(1, a.slice((m - 1) * k), alone);
        assert.deepEqual(alone, c.slice((m - 1) * n), "a row's bytes alone and in a batch");
      }
    }
    assert.equal(matmulPrecision(), "float32");
  });

  test(`a model on ${backend} whose products are in bfloat16 has gradients near float32's`, async () => {
    await tf.setBackend(backend);
    for (const lora of [false, true]) {
      const model = Model.init(config, 3);
      if (lora) addLora(model, { rank: 4, alpha: 8, seed: 1 });
      const rows = [90, 31].map((n) => Array.from({ length: n }, () => random.integer(301)));
      const batch = model.batch(rows);
      const run = (checkpointing = false) => {
        const { value, gradients } = gradientsOf(() => {
          const { logprobs, entropies } = model.logProbs(batch, batch.ids, { checkpointing });
          return logprobs.mean().add(entropies.mean()).asScalar();
        }, model.trainable);
        const all = Object.values({ value, ...gradients });
        const numbers = all.flatMap((t) => [...t.dataSync()]);
        tf.dispose(all);
        return numbers;
      };
      const exact = run();
      model.matmulPrecision = "bfloat16";
      const half = run();
      const dot = (x: number[], y: number[]) => x.reduce((sum, v, i) => sum + v * y[i]!, 0);
      const likeness = dot(exact, half) / Math.sqrt(dot(exact, exact) * dot(half, half));
      assert.ok(likeness > 0.9995 && likeness < 1 - 1e-9, `${likeness}`);
      assert.ok(Math.abs(exact[0]! - half[0]!) < 2e-3 * Math.abs(exact[0]!));
      assert.deepEqual(run(true), half, "computed again in the backward pass");
      const inside = inMatmulPrecision("bfloat16", run);
      assert.deepEqual(inside, half, "the backward pass is in bfloat16 too");
      model.matmulPrecision = "float32";
      assert.deepEqual(run(), exact);
      tf.dispose([batch.ids, batch.lengths]);
      model.dispose();
    }
  });
}

test("the precision is set back where what runs throws, and a backend without it says so", async () => {
  const failing = () => {
    throw new Error("stopped");
  };
  const [compiled] = ["native", "wasm"].filter((name) => tf.findBackendFactory(name));
  await tf.setBackend(compiled!);
  assert.throws(() => inMatmulPrecision("bfloat16", failing), /stopped/);
  assert.equal(matmulPrecision(), "float32");
  await tf.setBackend("cpu");
  const model = Model.init(config, 3);
  model.matmulPrecision = "bfloat16";
  assert.throws(
    () => model.forward(model.batch([[1, 2]])),
    /Cannot multiply in bfloat16: the backend must be native or wasm, got cpu/,
  );
  model.dispose();
});
