import type { KlKind } from "./base/kl.js";
import type { PolicyLossOptions } from "./registry.js";

/** What a published method sets of an update. */
export interface PublishedUpdate extends PolicyLossOptions {
  klLossCoefficient?: number;
  klLossKind?: KlKind;
}

/**
 * The settings of published methods' losses, by the method's name: what their papers' scripts set, where
 * that was read; where nothing is set, the loss's own defaults. To lay over an update's options, or over
 * a preset's.
 */
export const lossPresets = {
  ppo: { loss: "vanilla" },
  dapo: { loss: "vanilla", clipRatioLow: 0.2, clipRatioHigh: 0.28, aggregation: "token-mean" },
  "dr-grpo": { loss: "vanilla", aggregation: "seq-mean-token-sum-norm" },
  gspo: {
    loss: "gspo",
    clipRatioLow: 3e-4,
    clipRatioHigh: 4e-4,
    aggregation: "seq-mean-token-mean",
  },
  cispo: { loss: "cispo" },
  sapo: { loss: "sapo" },
  "clip-cov": { loss: "clip_cov" },
  "kl-cov": { loss: "kl_cov" },
  gmpo: { loss: "geo_mean" },
  gpg: { loss: "gpg" },
  "dppo-tv": { loss: "dppo_tv", clipRatioC: 20 },
  "dppo-kl": { loss: "dppo_kl", clipRatioC: 20 },
  gppo: { loss: "ce_gppo", gppoLow: 1, gppoHigh: 1, clipRatioC: 10 },
  // The 1.5B model's script; the function and its file have 0.25, the 7B model's script 0.75.
  "ce-gppo": { loss: "ce_gppo", gppoLow: 0.5, gppoHigh: 1, clipRatioC: 10 },
  at2po: { loss: "gspo_turn", clipRatioLow: 3e-3, clipRatioHigh: 4e-3 },
  appo: {
    loss: "future_kl",
    clipRatioLow: 0.2,
    clipRatioHigh: 0.28,
    clipRatioC: 3,
    futureDecay: 64,
    futureClip: 0.2,
    futureHighOnly: true,
    futureWeight: 1,
    futureSafety: 6,
  },
} as const;
