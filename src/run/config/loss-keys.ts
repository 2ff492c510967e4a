import type { ActorLossOptions } from "../../learn/losses/loss-rules.js";
import type { LossParameters } from "../../learn/losses/base/options.js";
import type { Config } from "./schema.js";
import { get, put, type Tree } from "./tree.js";

/**
 * Where the parameters of single losses stand below `actor_rollout_ref.actor`, by their options: verl's
 * names and places.
 */
export const parameterKeys = {
  tauPositive: "tau_pos",
  tauNegative: "tau_neg",
  clipCovRatio: "policy_loss.clip_cov_ratio",
  clipCovLow: "policy_loss.clip_cov_lb",
  clipCovHigh: "policy_loss.clip_cov_ub",
  klCovRatio: "policy_loss.kl_cov_ratio",
  klCovCoefficient: "policy_loss.ppo_kl_coef",
  droBeta: "policy_loss.dro_beta",
  gppoLow: "policy_loss.beta1",
  gppoHigh: "policy_loss.beta2",
  futureDecay: "policy_loss.decay_rate",
  futureClip: "policy_loss.future_kl_clip_ratio",
  futureHighOnly: "policy_loss.future_kl_clip_high_only",
  futureWeight: "policy_loss.future_kl_weight",
  futureSafety: "policy_loss.safety_thresh",
} as const satisfies Record<keyof LossParameters, string>;

/** The same for every option of the loss that is a key of the actor's. */
const lossKeys: Readonly<Record<string, string>> = {
  loss: "policy_loss.loss_mode",
  ...parameterKeys,
  clipRatio: "clip_ratio",
  clipRatioLow: "clip_ratio_low",
  clipRatioHigh: "clip_ratio_high",
  clipRatioC: "clip_ratio_c",
  paddedLength: "loss_scale_factor",
  aggregation: "loss_agg_mode",
  entropyCoefficient: "entropy_coeff",
  entropyBalancedClipping: "enable_entropy_balanced_clipping",
  entropyBalancedAdvantage: "enable_entropy_balanced_advantage",
} satisfies Partial<Record<keyof ActorLossOptions, string>>;

/** The loss's options that the actor's keys set; null is unset. */
export function actorLossOptions(actor: Config["actor_rollout_ref"]["actor"]): ActorLossOptions {
  const given = Object.entries(lossKeys).map(([name, key]) => [name, get(actor, key)]);
  return {
    ...(Object.fromEntries(given.filter(([, value]) => value !== null)) as ActorLossOptions),
    // A coefficient of 0 adds nothing: the reference pass, which the published runs pay for, is saved.
    ...(actor.use_kl_loss && actor.kl_loss_coef !== 0
      ? { klLossCoefficient: actor.kl_loss_coef, klLossKind: actor.kl_loss_type }
      : {}),
  };
}

/** A loss's options under the actor's keys. */
export function actorKeysOf(options: ActorLossOptions): Tree {
  const { klLossCoefficient, klLossKind = "low_var_kl", ...rest } = options;
  let keys: Tree = {};
  for (const [name, value] of Object.entries(rest)) {
    const place = lossKeys[name];
    if (place === undefined) {
      throw new RangeError(`Cannot write a loss as keys: an option must have one, got ${name}`);
    }
    keys = put(keys, place, value);
  }
  if (klLossCoefficient === undefined) return keys;
  return {
    ...keys,
    use_kl_loss: true,
    kl_loss_coef: klLossCoefficient,
    kl_loss_type: klLossKind,
  };
}
