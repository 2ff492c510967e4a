import type { ActorLossOptions } from "../../learn/loss/loss-rules.js";
import type { LossParameters } from "../../learn/loss/options.js";
import { put, type Tree } from "./tree.js";

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

const otherKeys = {
  loss: "policy_loss.loss_mode",
  clipRatio: "clip_ratio",
  clipRatioLow: "clip_ratio_low",
  clipRatioHigh: "clip_ratio_high",
  clipRatioC: "clip_ratio_c",
  aggregation: "loss_agg_mode",
} as const satisfies Partial<Record<keyof ActorLossOptions, string>>;

/** A loss's options under the actor's keys. */
export function actorKeysOf(options: ActorLossOptions): Tree {
  const { klLossCoefficient, klLossKind = "low_var_kl", ...rest } = options;
  const places: Readonly<Record<string, string>> = { ...otherKeys, ...parameterKeys };
  let keys: Tree = {};
  for (const [name, value] of Object.entries(rest)) {
    const place = places[name];
    if (place === undefined) {
      throw new RangeError(`Cannot write a loss as keys: an option must have one, got ${name}`);
    }
    keys = put(keys, place, value);
  }
  if (klLossCoefficient === undefined) return keys;
  return {
    ...keys,
    ...{ use_kl_loss: true, kl_loss_coef: klLossCoefficient, kl_loss_type: klLossKind },
  };
}
