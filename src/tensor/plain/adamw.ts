import { tf } from "../tfjs.js";

/** The two running means of one parameter. */
export interface AdamWMoments {
  m: tf.Variable;
  v: tf.Variable;
}

/** The numbers one step has in common for all parameters. */
export interface AdamWScalars {
  learningRate: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  weightDecay: number;
  scale: number;
  correction1: number;
  correction2: number;
}

/** The 2-norm of all gradients together, as a scalar tensor. */
export function globalNorm(gradients: readonly tf.Tensor[]): tf.Tensor {
  // One by one: a GPU takes no more than a few tensors in one operation.
  return tf.tidy(() =>
    gradients
      .map((g): tf.Tensor => g.square().sum())
      .reduce((a, b) => a.add(b))
      .sqrt(),
  );
}

/** One AdamW step on one parameter; `scale` is the clipping factor its gradient is multiplied by. */
export function adamwUpdate(
  parameter: tf.Variable,
  gradient: tf.Tensor,
  { m, v }: AdamWMoments,
  s: AdamWScalars,
): void {
  tf.tidy(() => {
    const g: tf.Tensor = gradient.mul(s.scale);
    m.assign(m.mul(s.beta1).add(g.mul(1 - s.beta1)));
    v.assign(v.mul(s.beta2).add(g.square().mul(1 - s.beta2)));
    const step = m.div(s.correction1).div(v.div(s.correction2).sqrt().add(s.epsilon));
    parameter.assign(
      parameter.mul(1 - s.learningRate * s.weightDecay).sub(step.mul(s.learningRate)),
    );
  });
}
