import type { ActorLossOptions, AdvantageOptions, UpdateOptions } from "../../learn/index.js";
import type { RolloutOptions } from "../../rollout/index.js";
import type { Config } from "../config/schema.js";

/** What the configuration says about rolling out. */
export function rolloutOptions(config: Config): RolloutOptions {
  const { rollout } = config.actor_rollout_ref;
  const { lab } = config;
  const branching = lab.branch_rule === "never" ? { beamSize: 1 } : { rule: lab.branch_rule };
  return {
    n: rollout.n,
    initialRollouts: Math.min(rollout.initial_rollouts, rollout.n),
    beamSize: rollout.beam_size,
    branchProbability: rollout.branch_probability,
    entropyWeight: rollout.entropy_weight,
    dynamicRollouts: rollout.enable_dynamic_rollouts
      ? { tokens: rollout.initial_entropy_tokens }
      : false,
    responseLength: config.data.max_response_length,
    callLimit: rollout.tools.call_limit,
    sampling: {
      temperature: rollout.do_sample ? rollout.temperature : 0,
      topK: rollout.top_k,
      topP: rollout.top_p,
    },
    ...(rollout.do_sample ? {} : { mode: "validate" as const }),
    ...branching,
  };
}

/** What the configuration says about validating. */
export function validationOptions(config: Config): RolloutOptions {
  const { val_kwargs: kwargs } = config.actor_rollout_ref.rollout;
  const { temperature, top_k: topK, top_p: topP } = kwargs;
  return {
    ...rolloutOptions(config),
    mode: "validate",
    validation: kwargs.do_sample ? { temperature, topK, topP } : { temperature: 0 },
    keepTop: false,
  };
}

/** What the configuration says about advantages. */
export function advantageOptions({ algorithm }: Config): AdvantageOptions {
  return {
    estimator: algorithm.adv_estimator,
    gamma: algorithm.gamma,
    lambda: algorithm.lam,
    normalizeByDeviation: algorithm.norm_adv_by_std_in_grpo,
  };
}

/** The actor's loss. */
function lossOptions({ actor_rollout_ref: { actor } }: Config): ActorLossOptions {
  return {
    clipRatio: actor.clip_ratio,
    ...(actor.clip_ratio_low === null ? {} : { clipRatioLow: actor.clip_ratio_low }),
    ...(actor.clip_ratio_high === null ? {} : { clipRatioHigh: actor.clip_ratio_high }),
    clipRatioC: actor.clip_ratio_c,
    aggregation: actor.loss_agg_mode,
    entropyCoefficient: actor.entropy_coeff,
    entropyBalancedClipping: actor.enable_entropy_balanced_clipping,
    entropyBalancedAdvantage: actor.enable_entropy_balanced_advantage,
    // A coefficient of 0 adds nothing: the reference pass, which the published runs pay for, is saved.
    ...(actor.use_kl_loss && actor.kl_loss_coef !== 0
      ? { klLossCoefficient: actor.kl_loss_coef, klLossKind: actor.kl_loss_type }
      : {}),
  };
}

/** What the configuration says about the update. Mini-batches count prompts there and rows here. */
export function updateOptions(config: Config): UpdateOptions {
  const { actor, rollout, model } = config.actor_rollout_ref;
  return {
    ...lossOptions(config),
    learningRate: actor.optim.lr,
    weightDecay: actor.optim.weight_decay,
    maxNorm: actor.grad_clip,
    miniBatchRows: actor.ppo_mini_batch_size * rollout.n,
    epochs: actor.ppo_epochs,
    maxTokensPerPass: actor.ppo_max_token_len_per_gpu,
    temperature: rollout.temperature === 0 ? 1 : rollout.temperature,
    checkpointing: model.enable_gradient_checkpointing,
  };
}
