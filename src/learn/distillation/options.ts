import {
  finite,
  integer,
  notNegative,
  oneOf,
  positive,
  share,
  valuesOf,
} from "../../../common/options/check-options.js";
import { type Complete, key, option, unset } from "../../../common/options/option-table.js";
import type { Teacher } from "./teacher.js";

/**
 * The estimates of how far student and teacher are apart at a token, by verl's names, SDAR's gated term, TRL's form whose
 * gradient alone is the reverse KL's, AReaL's, which weighs that by the ratio to the policy before the update, prime-rl's,
 * which weighs it by the ratio to the sampler and leaves out what has become too unlikely, the divergence of the whole distributions, and verl's over the teacher's likeliest tokens.
 */
export const distillationKinds = [
  "kl",
  "k1",
  "abs",
  "mse",
  "k2",
  "low_var_kl",
  "k3",
  "sdar",
  "sampled_token",
  "importance",
  "ref_kl",
  "jsd",
  "forward_kl_topk",
] as const;

const loss = "distillation.distillation_loss";
const flag = valuesOf<boolean>("boolean?");

/** What distillation on-policy can be told: the student samples, a teacher says how likely the same tokens are. */
export const distillationTable = {
  /**
   * What is learned from besides the reward, on the tokens that the model wrote: a model, a policy that says
   * log-probabilities (another one, an endpoint, an older checkpoint), or `{ prompts }`: the same model with more to read.
   * Default: none.
   */
  teacher: unset(valuesOf<Teacher>("object?")),
  /** How far apart the two are at a token. Default: `k1`, ln p of the student less that of the teacher. */
  distillationKind: option(
    oneOf(distillationKinds),
    "k1",
    key(`${loss}.loss_mode`, "How far student and teacher are apart at a token"),
  ),
  /**
   * Take that off the advantage, so that its gradient is the reverse KL's; off: add it to the loss as it is. Default:
   * true.
   */
  distillationAdvantage: option(
    flag,
    true,
    key(`${loss}.use_policy_gradient`, "Take it off the advantage; off: add it to the loss"),
  ),
  /** What it counts. Default: 1. */
  distillationCoefficient: option(
    notNegative,
    1,
    key(`${loss}.distillation_loss_coef`, "What the teacher counts beside the reward"),
  ),
  /** Learn from the reward too; off: from the teacher alone. Default: true. */
  distillationRewards: option(
    flag,
    true,
    key(`${loss}.use_task_rewards`, "Learn from the reward too; off: from the teacher alone"),
  ),
  /** What it counts at most at a token, either way. Default: no bound. */
  distillationClamp: unset(
    positive,
    key(`${loss}.loss_max_clamp`, "What it counts at most at a token, either way; none: no bound"),
  ),
  /** `forward_kl_topk`: the least log-probability that either side counts with. Default: none. */
  distillationLeast: unset(
    finite,
    key(
      `${loss}.log_prob_min_clamp`,
      "forward_kl_topk: the least log-probability that either side counts with; none: no bound",
    ),
  ),
  /** In the advantage: what the tokens behind a token count for it. Default: 0, each counts for itself. */
  distillationDiscount: option(
    share,
    0,
    key(
      "lab.distillation_discount",
      "What the teacher says of later tokens counts so much, per token",
    ),
  ),
  /**
   * How the advantage takes it: `add`; `early`, which adds more of it at the first tokens (IW-OPD); or the teacher decides how a trajectory's advantage is shared: `scale`, over its
   * tokens (RLSD), `belief-turn` and `belief-token`, by how they move the odds of success (AgentOPSD). Default: `add`.
   */
  distillationMix: option(
    oneOf(["add", "early", "scale", "belief-turn", "belief-token"]),
    "add",
    key(
      "lab.distillation_mix",
      "Add it to the advantage, add more of it at the first tokens (early: IW-OPD), or share the advantage by it: over tokens (scale: RLSD), or by the odds of success that turns or tokens move (AgentOPSD)",
    ),
  ),
  /** `early`: how much more the first token counts than the last. Default: 0.5. */
  iwGamma: option(
    notNegative,
    0.5,
    key("lab.iw_gamma", "early: how much more the first token counts than the last"),
  ),
  /** `scale` and the two beliefs: how far the advantage follows the teacher. Default: 0.5. */
  rlsdLambda: option(
    share,
    0.5,
    key("lab.rlsd_lambda", "scale, belief-turn, belief-token: how far the advantage follows it"),
  ),
  /** `scale` and the two beliefs: how far a factor may be from 1. Default: 0.2. */
  rlsdClip: option(
    share,
    0.2,
    key("lab.rlsd_clip", "scale, belief-turn, belief-token: how far a factor may be from 1"),
  ),
  /**
   * `jsd`: 0 is the forward KL, 1 the reverse KL, between them the generalised Jensen-Shannon divergence. Default: 0.5.
   */
  distillationBeta: option(
    share,
    0.5,
    key(
      "lab.distillation_beta",
      "jsd: 0 is the forward KL, 1 the reverse KL, between them a mixture",
    ),
  ),
  /**
   * `jsd`: over the student's so many most likely tokens; 0: over the whole vocabulary. `forward_kl_topk`: over the
   * teacher's. Default: 100.
   */
  distillationTopK: option(
    integer(0),
    100,
    key(
      "lab.distillation_top_k",
      "jsd: over the student's so many most likely tokens, forward_kl_topk: the teacher's; 0: all",
    ),
  ),
  /** `jsd`: what those leave over counts as one more token; off: they are made whole without it. Default: true. */
  distillationTail: option(
    flag,
    true,
    key("lab.distillation_tail", "jsd: what the most likely tokens leave over is one more token"),
  ),
  /**
   * `jsd` and `sampled_token`: a token is weighed by its ratio to the policy before the update, at most so much.
   * Default: 2.
   */
  distillationRatioClip: option(
    positive,
    2,
    key("lab.distillation_ratio_clip", "jsd, sampled_token: the largest weight by the ratio"),
  ),
  /** `sdar`: how steeply a token's weight rises with the teacher's log-probability over the student's. Default: 5. */
  sdarBeta: option(finite, 5, key("lab.sdar_beta", "sdar: how steeply a token's weight rises")),
};

export type DistillationSettings = Complete<typeof distillationTable>;

/** Kinds that are losses and no advantages. */
const lossKinds: ReadonlySet<string> = new Set([
  ...["sdar", "sampled_token", "importance", "ref_kl", "jsd", "forward_kl_topk"],
]);

/** Kinds that look at whole distributions. */
const wholeKinds: ReadonlySet<string> = new Set(["jsd", "forward_kl_topk"]);

/** Kinds that take the ratio to the sampler, where it said how likely its tokens were. */
export const readsSampler = (kind: string): boolean => kind === "ref_kl";

/** Kinds of SDPO's losses, which weigh tokens by their ratio. */
export const weighsByRatio = (kind: string): boolean => kind === "sampled_token" || kind === "jsd";

/** Whether an update compares whole distributions, which are measured then. */
export const comparesDistributions = ({
  teacher,
  distillationKind: kind,
}: Partial<DistillationSettings>): boolean =>
  teacher !== undefined && kind !== undefined && wholeKinds.has(kind);

/** Refuses what the sources offer and what teaches nothing. */
export function checkDistillation(settings: DistillationSettings): void {
  const { distillationKind: kind, distillationAdvantage: inAdvantage } = settings;
  const { distillationMix: mix, distillationRewards: rewards } = settings;
  if (!inAdvantage && mix !== "add") {
    throw new RangeError(
      `Cannot update: distillationMix must be add where distillationAdvantage is false, got ${mix}, which is a way into the advantage`,
    );
  }
  if (!rewards && mix !== "add" && mix !== "early") {
    throw new RangeError(
      `Cannot update: distillationRewards must be true beside distillationMix ${mix}, which shares the reward's advantage, got false`,
    );
  }
  if (!inAdvantage && ["k1", "kl"].includes(kind)) {
    throw new RangeError(
      `Cannot update: distillationKind must not be ${kind} in the loss, whose gradient does not contain the teacher; distillationAdvantage: true takes it off the advantage, k2 and k3 are losses`,
    );
  }
  if (inAdvantage && lossKinds.has(kind)) {
    throw new RangeError(
      `Cannot update: distillationKind ${kind} must be in the loss, got distillationAdvantage: true; set it to false`,
    );
  }
}
