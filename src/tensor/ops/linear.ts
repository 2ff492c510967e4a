import { fused } from "../fused.js";
import { linear as plain } from "../plain/linear.js";
import type { tf } from "../tfjs.js";

/**
 * x W^T + b over the last axis, with W as Hugging Face checkpoints store it: [out, in].
 * Differentiable.
 */
export function linear(x: tf.Tensor, weight: tf.Tensor, bias?: tf.Tensor): tf.Tensor {
  const [outputs, inputs] = weight.shape;
  if (weight.rank !== 2 || x.shape[x.rank - 1] !== inputs) {
    throw new RangeError(
      `Cannot apply a linear layer: the last axis of x must be the weight's second, ` +
        `got x [${x.shape}] and weight [${weight.shape}]`,
    );
  }
  if (bias && (bias.rank !== 1 || bias.shape[0] !== outputs)) {
    throw new RangeError(
      `Cannot apply a linear layer: the bias must be [${outputs}], got [${bias.shape}]`,
    );
  }
  const inputsOf: Record<string, tf.Tensor> = bias ? { x, weight, bias } : { x, weight };
  const attributes = { biased: bias !== undefined };
  return fused("ArpoLinear", inputsOf, attributes, 1, () => [plain(x, weight, bias)])[0]!;
}
