import type { LossAggregation } from "./aggregation-modes.js";
import type { LossParameters } from "./loss-parameters.js";
import type { RatioKind } from "./token-ratio.js";

/**
 * The losses by name, verl's where it has one: `vanilla` is PPO with dual clip (GRPO, ARPO and, with its
 * two switches, AEPO); `geo_mean` is GMPO; `gspo_turn` is AT2PO's and `turn` Tree-GRPO's; `future_kl` is
 * APPO's.
 */
export const lossNames = [
  "vanilla",
  "gspo",
  "cispo",
  "sapo",
  "clip_cov",
  "kl_cov",
  "geo_mean",
  "gpg",
  "dro",
  "dppo_tv",
  "dppo_kl",
  "ce_gppo",
  "gspo_turn",
  "turn",
  "future_kl",
] as const;
export type LossName = (typeof lossNames)[number];

/** What there is to know of a loss without computing it. */
export interface LossFacts {
  title: string;
  /** How its token losses become one number where nobody says. */
  aggregation: LossAggregation;
  /** It has its own way and takes no other. */
  ownAggregation?: true;
  /** Whose arithmetic that is: see `aggregationRules`. */
  rule: "older" | "verl-0.9.1";
  /** What its clip bounds are laid on; without one they change nothing. */
  clips?: "ratio" | "log ratio" | "divergence";
  /** Whose ratio it is where it is not the token's own. */
  ratioOf?: "row" | "turn";
  /** It reads clipRatioC. */
  readsC?: true;
  /** The parameters it reads. */
  parameters?: readonly (keyof LossParameters)[];
}

/** What there is to know of every loss: the only place that lists it. */
export const lossFacts: Readonly<Record<LossName, LossFacts>> = {
  vanilla: {
    title: "PPO with dual clip",
    aggregation: "token-mean",
    rule: "older",
    clips: "ratio",
    readsC: true,
  },
  gspo: {
    title: "GSPO",
    aggregation: "seq-mean-token-mean",
    rule: "older",
    clips: "ratio",
    ratioOf: "row",
  },
  cispo: { title: "CISPO", aggregation: "token-mean", rule: "verl-0.9.1", clips: "ratio" },
  sapo: {
    title: "SAPO",
    aggregation: "seq-mean-token-mean",
    ownAggregation: true,
    rule: "verl-0.9.1",
    parameters: ["tauPositive", "tauNegative"],
  },
  clip_cov: {
    title: "Clip-Cov",
    aggregation: "token-mean",
    rule: "verl-0.9.1",
    clips: "ratio",
    parameters: ["clipCovRatio", "clipCovLow", "clipCovHigh"],
  },
  kl_cov: {
    title: "KL-Cov",
    aggregation: "token-mean",
    rule: "verl-0.9.1",
    parameters: ["klCovRatio", "klCovCoefficient"],
  },
  geo_mean: {
    title: "GMPO",
    aggregation: "seq-mean-token-mean",
    ownAggregation: true,
    // A plain mean over rows, those without a token included: the older rule's.
    rule: "older",
    clips: "log ratio",
    ratioOf: "row",
  },
  gpg: { title: "GPG", aggregation: "token-mean", rule: "verl-0.9.1" },
  dro: { title: "DRO", aggregation: "token-mean", rule: "verl-0.9.1", parameters: ["droBeta"] },
  dppo_tv: {
    title: "DPPO, total variation",
    aggregation: "token-mean",
    rule: "verl-0.9.1",
    clips: "divergence",
    readsC: true,
  },
  dppo_kl: {
    title: "DPPO, KL",
    aggregation: "token-mean",
    rule: "verl-0.9.1",
    clips: "divergence",
    readsC: true,
  },
  ce_gppo: {
    title: "CE-GPPO",
    aggregation: "token-mean",
    rule: "older",
    clips: "ratio",
    readsC: true,
    parameters: ["gppoLow", "gppoHigh"],
  },
  gspo_turn: {
    title: "AT2PO's GSPO by turns",
    aggregation: "seq-mean-token-mean",
    ownAggregation: true,
    rule: "older",
    clips: "ratio",
    ratioOf: "turn",
  },
  turn: {
    title: "Tree-GRPO's turn ratios",
    aggregation: "token-mean",
    rule: "older",
    clips: "ratio",
    ratioOf: "turn",
    readsC: true,
  },
  future_kl: {
    title: "APPO's future KL",
    aggregation: "token-mean",
    rule: "older",
    clips: "ratio",
    readsC: true,
    parameters: ["futureDecay", "futureClip", "futureHighOnly", "futureWeight", "futureSafety"],
  },
};

/** How a loss is chosen. */
export interface LossChoice {
  /** Default: `vanilla`. */
  loss?: LossName;
  /** An older word for two of the losses: `ppo` is `vanilla`, `gspo` is `gspo`. */
  ratio?: RatioKind;
}

/** The loss that options choose. */
export function lossNameOf(options: LossChoice): LossName {
  const { loss, ratio } = options;
  const name = loss ?? (ratio === "gspo" ? "gspo" : "vanilla");
  if (!lossNames.includes(name)) {
    throw new RangeError(
      `Cannot choose a loss: it must be one of ${lossNames.join(", ")}, got ${String(name)}`,
    );
  }
  return name;
}
