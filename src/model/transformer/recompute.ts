import { freeTapeEagerly } from "../../tensor/free-tape-eagerly.js";
import { inMatmulPrecision, matmulPrecision } from "../../tensor/matmul-precision.js";
import { tf } from "../../tensor/tf.js";

type Save = (tensors: tf.Tensor[]) => void;

/**
 * f(inputs, constants), remembering only the inputs: what f computes on the way is thrown away and
 * computed again when the gradient is asked for. Time for memory: one more forward pass, and only one
 * span of the network unfolded at a time. Gradients flow to `inputs`, not to `constants`.
 */
export function recompute(
  f: (inputs: tf.Tensor[], constants: tf.Tensor[]) => tf.Tensor,
  inputs: readonly tf.Tensor[],
  constants: readonly tf.Tensor[] = [],
): tf.Tensor {
  const precision = matmulPrecision();
  return tf.customGrad((...args: (tf.Tensor | Save)[]) => {
    const save = args.pop() as Save;
    const given = args as tf.Tensor[];
    save([...given, ...constants]);
    return {
      // The tape does not run inside a custom gradient, so nothing of this is kept.
      value: f(given, [...constants]),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        // tfjs forgets the outer tape when a gradient is taken during a gradient; hold on to it.
        const { state } = tf.engine();
        const tape = state.activeTape;
        try {
          const rest = saved.slice(given.length);
          const again = (...values: tf.Tensor[]) => freeTapeEagerly(() => f(values, rest));
          return inMatmulPrecision(precision, () =>
            tf.grads(again)(saved.slice(0, given.length), dy),
          );
        } finally {
          state.activeTape = tape;
        }
      },
    };
  })(...inputs);
}
