import { checkArguments } from "../../common/options/check-arguments.js";
import { freeTapeEagerly } from "./free-tape-eagerly.js";
import { tf } from "./tf.js";

/** A loss and its gradient for each parameter it depends on. */
export interface Gradients {
  value: tf.Scalar;
  gradients: Record<string, tf.Tensor>;
}

/**
 * The value of a scalar function of named parameters and its gradients, under the same names. (tfjs's
 * own variableGrads goes by names that must be unique in the whole process, so that two models could
 * not have the same weights.) The caller disposes what it is given.
 *
 * @param loss computes the loss from the parameters
 * @param parameters the parameters by name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { gradientsOf, tf } from "arpo-lab/model";
 *
 * const w = tf.variable(tf.tensor1d([1, -2]));
 * const { value, gradients } = gradientsOf(() => w.square().sum().asScalar(), new Map([["w", w]]));
 * assert.equal(value.dataSync()[0], 5);
 * assert.deepEqual([...gradients.w.dataSync()], [2, -4]);
 * ```
 */
export function gradientsOf(
  loss: () => tf.Scalar,
  parameters: ReadonlyMap<string, tf.Variable>,
): Gradients {
  checkArguments("take gradients", { loss, parameters }, { loss: "function", parameters: "items" });
  const { value, grads } = tf.variableGrads(() => freeTapeEagerly(loss), [...parameters.values()]);
  const gradients: Record<string, tf.Tensor> = {};
  for (const [name, variable] of parameters) {
    const gradient = grads[variable.name];
    if (gradient) gradients[name] = gradient;
  }
  return { value, gradients };
}
