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
        // Chosen, not multiplied: a gradient that is not finite must not reach the one not taken.
        const none = tf.zerosLike(dy);
        const shared = tf.where(p.equal(q), dy.mul(0.5), dy);
        const lost = (from: Tensor, to: Tensor) =>
          tf.where(pick === "maximum" ? from.less(to) : from.greater(to), none, shared);
        return [lost(p, q), lost(q, p)];
      },
    };
  });
  return chosen(a, b);
}

/**
 * The larger of two tensors of one shape; where they are equal each gets half of the gradient, as in
 * PyTorch. (tf.maximum gives it all to the first.)
 */
export function evenMaximum(a: Tensor, b: Tensor): Tensor {
  return extremum(a, b, "maximum");
}

/** The smaller of two tensors of one shape; where they are equal each gets half of the gradient. */
export function evenMinimum(a: Tensor, b: Tensor): Tensor {
  return extremum(a, b, "minimum");
}

/**
 * A tensor kept between two numbers; its gradient passes where it lies between them or at one, as in
 * PyTorch. (tf.clipByValue has none where both are the same number.)
 */
export function clip(x: Tensor, low: number, high: number): Tensor {
  return tf.engine().runKernel(
    tf.ClipByValue,
    { x },
    {
      clipValueMin: low,
      clipValueMax: high,
    },
  ) as Tensor;
}

/**
 * Where the condition holds the one tensor, elsewhere the other; all of one shape. The one not taken
 * gets a gradient of 0, even where the gradient is not finite. (tf.where multiplies it by 0.)
 */
export function either(condition: Tensor, a: Tensor, b: Tensor): Tensor {
  const chosen = tf.customGrad((...inputs: (Tensor | Save)[]) => {
    const [x, y, save] = inputs as [Tensor, Tensor, Save];
    save([condition]);
    return {
      value: tf.where(condition, x, y),
      gradFunc: (dy: Tensor, [held]: Tensor[]) => {
        const none = tf.zerosLike(dy);
        return [tf.where(held!, dy, none), tf.where(held!, none, dy)];
      },
    };
  });
  return chosen(a, b);
}

/**
 * A tensor with 0 wherever a mask is 0, whatever stood there, and no gradient there either. (A product with
 * the mask keeps NaN.)
 */
export function withoutMasked(x: Tensor, mask: Tensor): Tensor {
  return either(mask.notEqual(0), x, tf.zerosLike(x));
}
