import { clipBounds } from "../../learn/losses/base/options.js";
import { lossRegistry } from "../../learn/losses/registry.js";
import { updateOptions } from "../../run/trainer/options.js";
import { findings } from "../check.js";
import { needsReference } from "../../run/trainer/reference-of.js";
import { type Rule } from "./context.js";

const { note, warning } = findings("numbers");

/** What makes NaN, what was seen to go wrong, and what is unusual and was not tried. */
export const numbers: Rule = function* (context) {
  const { config } = context;
  const { actor, rollout } = config.actor_rollout_ref;
  const { lr } = actor.optim;
  const large = (context.parameters ?? 0) > 50e6;
  // Adapters start at nothing, and take ten times as much.
  const most = (large ? 3e-5 : 3e-4) * (config.actor_rollout_ref.model.lora_rank > 0 ? 10 : 1);
  if (lr > most) {
    const why =
      large && lr >= 8e-5 && config.actor_rollout_ref.model.lora_rank === 0
        ? "8e-5 was too high for all weights of a model of 135 million: its entropy fell from 0.32 to 0.13 nats in two updates, and its score did not rise (docs/evidence/real-curves/README.md)"
        : `unusual: more than ${most} was not tried`;
    yield warning(
      "learning-rate",
      `a learning rate of ${lr} in reinforcement learning: ${why}`,
      `actor_rollout_ref.actor.optim.lr=${most}`,
    );
  }
  if (actor.grad_clip > 10) {
    yield warning(
      "gradients-unclipped",
      `unusual: grad_clip is ${actor.grad_clip}, which hardly limits a gradient`,
      "actor_rollout_ref.actor.grad_clip=1",
    );
  }
  const { low, high } = clipBounds(updateOptions(config));
  const loss = actor.policy_loss.loss_mode;
  const { clips, weighs } = lossRegistry.of("check", "loss_mode", loss);
  if ((high > 2 || low <= 0) && clips === "ratio" && !weighs) {
    yield warning(
      "clip-range",
      `ratios are clipped to ${low.toFixed(2)} to ${high.toFixed(2)}, which is unusual and hardly a clip`,
      "actor_rollout_ref.actor.clip_ratio_low=0.2 actor_rollout_ref.actor.clip_ratio_high=0.2",
    );
  }
  if (low !== 1 - actor.clip_ratio && high !== 1 + actor.clip_ratio) {
    yield note(
      "clip-ratio-idle",
      `clip_ratio is ${actor.clip_ratio} and changes nothing: clip_ratio_low and clip_ratio_high say ${actor.clip_ratio_low} and ${actor.clip_ratio_high}`,
      "actor_rollout_ref.actor.clip_ratio_low=null actor_rollout_ref.actor.clip_ratio_high=null",
    );
  }
  if (rollout.temperature > 0 && rollout.temperature < 0.1) {
    yield warning(
      "temperature-low",
      `temperature ${rollout.temperature} divides the logits: probabilities are 0 and 1, ratios explode, and trajectories of a prompt hardly differ`,
      "actor_rollout_ref.rollout.temperature=1",
    );
  }
  if (actor.entropy_coeff > 0.05) {
    yield warning(
      "entropy-bonus",
      `unusual: entropy_coeff is ${actor.entropy_coeff}, so that the policy is rewarded for noise`,
      "actor_rollout_ref.actor.entropy_coeff=0, or 0.001",
    );
  }
  if (actor.loss_agg_mode === "seq-mean-token-mean" && rollout.response_length < 8) {
    yield warning(
      "empty-rows",
      "the mean over an empty trajectory is NaN in the reference, 0 here",
    );
  }
  if (rollout.top_p < 1 || rollout.top_k > 0) {
    const whole = config.lab.sampling_mask === "whole";
    // Measured on data/models/tiny (docs/internal/log/2026-11.md).
    const left =
      "a ratio to the sampler is too small by the probability that was left (sampling/kept_mass): at top_p 0.95 it was 0.975 a token, about 0.36 of a trajectory of 41 tokens";
    yield whole
      ? warning(
          "cut-off-sampling",
          `top_p or top_k cut tokens off while sampling, and log-probabilities are over the whole vocabulary: ${left}`,
          "lab.sampling_mask=recorded",
        )
      : note(
          "cut-off-sampling",
          `top_p or top_k cut tokens off while sampling: log-probabilities and ratios are over what was left, entropies over the whole vocabulary. Where an endpoint does not say what was left, ${left}`,
        );
  }
  const kl = { loss: actor.kl_loss_coef, reward: config.algorithm.kl_ctrl.kl_coef };
  if (
    needsReference(context.config) &&
    Math.max(actor.use_kl_loss ? kl.loss : 0, config.algorithm.use_kl_in_reward ? kl.reward : 0) > 1
  ) {
    yield warning("kl-weight", "a KL weight above 1 outweighs every reward");
  }
  if (actor.use_kl_loss && kl.loss === 0) {
    yield note("kl-of-nothing", "use_kl_loss with a coefficient of 0: the reference pass is saved");
  }
};
