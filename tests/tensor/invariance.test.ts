import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../src/model/transformer/transformer.js";
import { Random } from "../../src/base/random/random.js";
import type { EngineBackend } from "../../src/tensor/engine/engine-backend.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { logProbEntropyFromHidden } from "../../src/tensor/ops/log-prob-entropy-from-hidden.js";
import { tf } from "../../src/tensor/tf.js";

const config = { vocabSize: 301, hiddenSize: 64, intermediateSize: 160, layers: 2, heads: 4, kvHeads: 2 }; // prettier-ignore

for (const backend of ["native", "wasm"].filter((name) => tf.findBackendFactory(name))) {
  test(`a training step on ${backend} has the same bytes on 1, 2 and 5 threads`, async () => {
    await tf.setBackend(backend);
    const { call } = (tf.backend() as EngineBackend).engine;
    const threads = call.threads!();
    const model = Model.init(config, 3);
    const random = Random.from(8);
    const rows = [90, 31, 77].map((n) => Array.from({ length: n }, () => random.integer(301)));
    const batch = model.batch(rows);
    const run = (count: number) => {
      call.set_threads!(count);
      const { value, gradients } = gradientsOf(() => {
        const { logprobs, entropies } = model.logProbs(batch, batch.ids);
        return logprobs.sum().add(entropies.square().sum()).asScalar();
      }, model.weights);
      const bytes = Object.values({ value, ...gradients }).map((t) =>
        Buffer.from(Float32Array.from(t.dataSync()).buffer),
      );
      tf.dispose([value, gradients]);
      return Buffer.concat(bytes);
    };
    const one = run(1);
    for (const count of [2, 5]) assert.ok(run(count).equals(one));
    call.set_threads!(threads);
    tf.dispose([batch.ids, batch.lengths]);
    model.dispose();
  });

  test(`log-probabilities on ${backend} have the same bytes alone and in a batch`, async () => {
    await tf.setBackend(backend);
    const random = Random.from(9);
    const draw = (...shape: [number, number]) =>
      tf.tensor2d(
        Float32Array.from({ length: shape[0] * shape[1] }, () => random.normal()),
        shape,
      );
    tf.tidy(() => {
      const [hidden, head] = [draw(333, 40), draw(2003, 40)];
      const labels = tf.range(0, 333, 1, "int32");
      const all = logProbEntropyFromHidden(hidden, head, labels, 0.9);
      for (const [from, count] of [
        [0, 1],
        [200, 7],
        [332, 1],
      ] as const) {
        // prettier-ignore
        const part = logProbEntropyFromHidden(
          hidden.slice([from, 0], [count, 40]),
          head,
          labels.slice([from], [count]),
          0.9,
        );
        for (const name of ["logprobs", "entropies"] as const) {
          assert.deepEqual(part[name].dataSync(), all[name].dataSync().slice(from, from + count));
        }
      }
    });
  });
}
