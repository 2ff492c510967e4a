import { tf } from "./tf.js";

type Tensor = InstanceType<typeof tf.Tensor>;
type Save = (tensors: Tensor[]) => void;

function extremum(a: Tensor, b: Tensor, pick: "maximum" | "minimum"): Tensor {
  const chosen = tf.customGrad((...inputs: (Tensor | Save)[]) => {
    const [x, y, save] = inputs as [Tensor, Tensor, Save];
    save([x, y]);
    return {
      value: tf[pick](x, y),
      gradFunc: (dy: Tensor, saved: Tensor[]) => {
        const [p, q] = saved as [Tensor, Tensor];
        const ties: Tensor = p.equal(q).cast<Tensor>("float32").mul(0.5);
        const first = (pick === "maximum" ? p.greater(q) : p.less(q)).cast<Tensor>("float32");
        const share: Tensor = first.add(ties);
        return [dy.mul(share), dy.mul(share.neg().add(1))];
      },
    };
  });
  return chosen(a, b);
}

/**
 * The larger of two tensors of one shape; where they are equal each gets half of the gradient, as in
 * PyTorch. (tf.maximum gives it all to the first.)
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evenMaximum, tf } from "arpo-lab/tensor";
 *
 * const slope = tf.grad((x) => evenMaximum(x, tf.ones([1])).sum())(tf.ones([1]));
 * assert.equal(slope.dataSync()[0], 0.5);
 * ```
 */
export function evenMaximum(a: Tensor, b: Tensor): Tensor {
  return extremum(a, b, "maximum");
}

/**
 * The smaller of two tensors of one shape; where they are equal each gets half of the gradient.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evenMinimum, tf } from "arpo-lab/tensor";
 *
 * assert.deepEqual([...evenMinimum(tf.tensor1d([1, 4]), tf.tensor1d([2, 3])).dataSync()], [1, 3]);
 * ```
 */
export function evenMinimum(a: Tensor, b: Tensor): Tensor {
  return extremum(a, b, "minimum");
}
