import { detached } from "../../tensor/detached.js";
import { tf } from "../../tensor/tf.js";
import type { Tensor } from "./aggregate.js";
import { clipBounds } from "./clip-bounds.js";
import { dppoLargestRatio } from "./dppo-largest-ratio.js";
import { boundedLogRatio, figures, totalOf } from "./loss-parts.js";
import type { PolicyLoss, PolicyLossInput, PolicyLossOptions } from "./policy-loss-types.js";

/** The divergence of the token's own probability, all others taken together: KL of two coins. */
function binaryKl({ logprobs, oldLogprobs }: PolicyLossInput): Tensor {
  const [now, old]: [Tensor, Tensor] = [logprobs.exp(), oldLogprobs.exp()];
  const rest: Tensor = tf.sub<Tensor>(1, old);
  const others: Tensor = rest.add(1e-8).div(tf.sub<Tensor>(1, now).add(1e-8)).log();
  return old.mul<Tensor>(oldLogprobs.sub(logprobs)).add(rest.mul(others));
}

/** Where the step is still allowed: by the change of the probability, or by its KL. */
function allowed(input: PolicyLossInput, options: PolicyLossOptions, by: "tv" | "kl"): Tensor {
  const { low, high } = clipBounds(options);
  const [up, down] = [high - 1, 1 - low];
  const move: Tensor = input.logprobs.exp().sub<Tensor>(input.oldLogprobs.exp());
  const rising = input.advantages.greater(0);
  if (by === "tv") return tf.where(rising, move.lessEqual(up), move.greaterEqual(-down));
  const kl = binaryKl(input);
  return tf.where(
    rising,
    kl.lessEqual(up).logicalOr(move.lessEqual(0)),
    kl.lessEqual(down).logicalOr(move.greaterEqual(0)),
  );
}

/** DPPO: the truncated ratio weighs a token, as long as its probability has not diverged. */
function dppoLoss(input: PolicyLossInput, options: PolicyLossOptions, by: "tv" | "kl"): PolicyLoss {
  const { c } = clipBounds({ ...options, clipRatioC: options.clipRatioC ?? dppoLargestRatio });
  const logRatio = boundedLogRatio(input);
  const valid = allowed(detachedInput(input), options, by);
  const ratio: Tensor = detached(logRatio).exp();
  const weight: Tensor = tf.minimum(ratio, c).mul(valid.cast("float32"));
  const losses: Tensor = weight.mul(input.advantages).mul<Tensor>(input.logprobs).neg();
  return {
    loss: totalOf(`dppo_${by}`, losses, input, options),
    metrics: figures(input, logRatio, {
      clipped: valid.logicalNot(),
      lower: valid.logicalAnd(ratio.greater(c)),
    }),
  };
}

const detachedInput = (input: PolicyLossInput): PolicyLossInput => ({
  ...input,
  logprobs: detached(input.logprobs),
});

/** DPPO by total variation: the probability itself may not move further than the bounds. */
export function dppoTvLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  return dppoLoss(input, options, "tv");
}

/** DPPO by KL: its divergence may not be larger than the bounds, or the move must be back. */
export function dppoKlLoss(input: PolicyLossInput, options: PolicyLossOptions = {}): PolicyLoss {
  return dppoLoss(input, options, "kl");
}
