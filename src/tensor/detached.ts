import { checkArguments } from "../../common/options/check-arguments.js";
import { tf } from "./tf.js";

type Tensor = InstanceType<typeof tf.Tensor>;

/**
 * The value of a tensor as a constant: shares its memory, and no gradient flows through it. tfjs has no
 * operation for this; a kernel call would be recorded, so the new tensor is made beside the tape.
 *
 * @param x the tensor that gradients must not reach
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { detached, tf } from "arpo-lab/model";
 *
 * const slope = tf.grad((x) => x.mul(detached(x)).sum())(tf.tensor1d([3]));
 * assert.equal(slope.dataSync()[0], 3); // not 6
 * ```
 */
export function detached<T extends Tensor>(x: T): T {
  checkArguments("detach", { x }, { x: "tensor" });
  tf.backend().incRef(x.dataId);
  const { dataId, shape, dtype } = x;
  return tf.engine().makeTensorFromTensorInfo({ dataId, shape, dtype }) as T;
}
