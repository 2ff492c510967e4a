import { fused } from "../fused.js";
import { inMatmulPrecision, matmulPrecision } from "../matmul-precision.js";
import { linear as plain } from "../plain.js";
import { tf } from "../tfjs.js";

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

/** A projection W [out, in] that is not trained, and the adapter A [rank, in], B [out, rank] that is. */
export interface Adapted {
  weight: tf.Tensor;
  bias?: tf.Tensor;
  a: tf.Tensor;
  b: tf.Tensor;
}

/** A linear layer whose weight is not trained: no time goes into a gradient nobody wants. */
export function frozenLinear(x: tf.Tensor, weight: tf.Tensor, bias?: tf.Tensor): tf.Tensor {
  const precision = matmulPrecision();
  return tf.customGrad((given) => ({
    value: linear(given as tf.Tensor, weight, bias),
    gradFunc: (dy: tf.Tensor) => {
      const [outputs, inputs] = weight.shape as [number, number];
      const rows: tf.Tensor2D = dy.reshape([-1, outputs]);
      const slope = inMatmulPrecision(precision, () => tf.matMul(rows, weight as tf.Tensor2D));
      return slope.reshape([...x.shape.slice(0, -1), inputs]);
    },
  }))(x);
}

/** y + scale * more. tfjs's own would keep all three for the backward pass, which needs none of them. */
function plus(y: tf.Tensor, more: tf.Tensor, scale: number): tf.Tensor {
  return tf.customGrad((...given) => {
    const [to, what] = given as [tf.Tensor, tf.Tensor];
    return {
      value: to.add(what.mul(scale)),
      gradFunc: (dy: tf.Tensor) => [dy.clone(), dy.mul(scale)],
    };
  })(y, more);
}

/**
 * x W^T + b + scale x A^T B^T of up to three projections of the same x, whose adapters have one rank.
 * Differentiable in x and the adapters. A GPU does it in two to four dispatches.
 */
export function adaptedLinear(
  x: tf.Tensor,
  projections: readonly Adapted[],
  scale: number,
): tf.Tensor[] {
  const inputs: Record<string, tf.Tensor> = { x };
  for (const [i, { weight, bias, a, b }] of projections.entries()) {
    Object.assign(inputs, { [`w${i}`]: weight, [`a${i}`]: a, [`b${i}`]: b });
    if (bias) inputs[`bias${i}`] = bias;
  }
  const count = projections.length;
  return fused(`ArpoAdapted${count}`, inputs, { scale }, count, () =>
    projections.map(({ weight, bias, a, b }) =>
      plus(frozenLinear(x, weight, bias), linear(linear(x, a), b), scale),
    ),
  );
}
