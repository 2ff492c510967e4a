// The training step that `bench engine` and `bench profile` measure: forward, cross-entropy, backward and AdamW on
// one batch, as the PyTorch baseline has them.
import { Model } from "../../../src/model/transformer/transformer.js";
import { AdamW } from "../../../src/tensor/adamw.js";
import { ready } from "../../../src/tensor/backends.js";
import { gradientsOf } from "../../../src/tensor/gradients.js";
import { tf } from "../../../src/tensor/tf.js";
import { engineSizes, type EngineSize } from "./engine-sizes.js";

/** A model of a size and a step of its training, which gives the loss. */
export async function trainStep(
  size: EngineSize,
  precision: Model["matmulPrecision"] = "float32",
): Promise<{ model: Model; step: () => Promise<number> }> {
  await ready();
  const { model: config, rows, time } = engineSizes[size];
  const model = Model.init(config, 0);
  model.matmulPrecision = precision;
  const optimizer = new AdamW(model.weights, { learningRate: 1e-3 });
  const ids = Array.from({ length: rows }, (_, r) =>
    Array.from(
      { length: time + 1 },
      (_, t) => (r * 7919 + t * 104729 + t * t * 31) % config.vocabSize,
    ),
  );
  const batch = model.batch(ids.map((row) => row.slice(0, -1)));
  const labels = tf.tensor2d(
    ids.map((row) => row.slice(1)),
    [rows, time],
    "int32",
  );
  const step = async (): Promise<number> => {
    const { value, gradients } = gradientsOf(
      () => model.logProbs({ ids: batch.ids }, labels).logprobs.mean().neg().asScalar(),
      model.weights,
    );
    await optimizer.step(gradients);
    model.changed();
    const [loss] = await value.data();
    tf.dispose([value, gradients]);
    return loss!;
  };
  return { model, step };
}
