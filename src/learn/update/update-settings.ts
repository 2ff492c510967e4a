import { defined } from "../../../common/options/defined.js";
import {
  above,
  checkOptions,
  either,
  fromTo,
  integer,
  integerOrAll,
  notNegative,
  oneOf,
  type OptionRule,
  type OptionRules,
  optionsOf,
  positive,
  valuesOf,
} from "../../../common/options/check-options.js";
import {
  type Complete,
  completed,
  completing,
  type Given,
  key,
  option,
  type Option,
  rulesOf,
  unset,
} from "../../../common/options/option-table.js";
import { named } from "../../../common/options/check-arguments.js";
import { type PresetName } from "../../rollout/presets.js";
import { learnPresets } from "../presets.js";
import { Random } from "../../base/random/random.js";
import {
  type RolloutCorrection,
  correctionOf,
  correctionRules,
} from "../correction/rollout-correction.js";
import { type ActorLossOptions, lossRules } from "../losses/loss-rules.js";
import { clipBounds } from "../losses/base/options.js";
import { checkDistillation, distillationTable } from "../distillation/options.js";
import type { Reference } from "../distillation/teacher.js";
import { missingOf } from "../losses/base/definition.js";
import { type LossChoice, lossOf } from "../losses/registry.js";

export type { Reference };

const flag = valuesOf<boolean>("boolean?");
const ref = "actor_rollout_ref";

export const presetRule = oneOf(Object.keys(learnPresets)) as OptionRule<PresetName>;

/** What an update can be told besides its loss. */
export const updateTable = {
  /** What an algorithm's published runs set; options given beside it override it. Default: none. */
  preset: unset(presetRule),
  /** AdamW's learning rate. Default: 1e-6. */
  learningRate: option(
    notNegative,
    1e-6,
    key(`${ref}.actor.optim.lr`, "Learning rate", { above: 0 }),
  ),
  /** AdamW's decoupled weight decay. Default: 0.01. */
  weightDecay: option(
    notNegative,
    0.01,
    key(`${ref}.actor.optim.weight_decay`, "AdamW's decoupled weight decay"),
  ),
  /** Largest global gradient norm (`grad_clip`). Default: 1. */
  maxNorm: option(above(0), 1, key(`${ref}.actor.grad_clip`, "Largest global gradient norm")),
  /** Trajectories per optimiser step (`ppo_mini_batch_size` x n). Default: the whole batch. */
  miniBatchSize: unset(integerOrAll(1)),
  /** Passes over the batch (`ppo_epochs`). Default: 1. */
  epochs: option(
    integer(1),
    1,
    key(`${ref}.actor.ppo_epochs`, "Passes over a batch", { most: 1_000_000 }),
  ),
  /**
   * Tokens per forward pass, padding included, or without it and with shared beginnings once where
   * `sharedPrefixes` is on. Default: 16384, and fewer where the backward pass would take more than 3 GiB.
   */
  maxTokensPerPass: option(fromTo(1, Infinity), 16_384),
  /**
   * Trajectories per forward pass, where trajectories rather than tokens are limited. Default: no
   * limit.
   */
  maxSequencesPerPass: unset(integerOrAll(1)) satisfies Option<number, number | undefined>,
  /** The temperature the trajectories were sampled at. Default: 1. */
  temperature: option(positive, 1),
  /**
   * Compute each layer again for its gradient instead of keeping its activations: less memory, more
   * time. Default: false.
   */
  checkpointing: option(
    flag,
    false,
    key(
      `${ref}.model.enable_gradient_checkpointing`,
      "Recompute activations: slower, less memory",
      { by: true },
    ),
  ),
  /**
   * Compute what trajectories begin with in common once: the same losses and gradients up to rounding. Default: true.
   */
  sharedPrefixes: option(
    flag,
    true,
    key(
      "lab.share_prefixes",
      "Compute what trajectories begin with in common once in an update: the same gradients up to rounding",
    ),
  ),
  /**
   * Take log-probabilities from before the update as the rollout said them: no second pass over the trajectories.
   * They are the decoder's, equal to the model's up to rounding. `true` says that trajectories were sampled by the weights
   * of now at `temperature`; `false` measures all. A trajectory that another sampler wrote, or of which a trained
   * token was not sampled, is measured all the same. Default: where this process knows that these weights drew it.
   */
  reuseLogProbs: unset(
    flag,
    key(
      "lab.reuse_log_probs",
      "Take log-probabilities from before the update as the rollout said them, where the policy that trains sampled: equal to rounding, without a pass over the trajectories",
      { by: true },
    ),
  ),
  /**
   * Over what log-probabilities are of tokens that top-k, top-p or min-p left when they were sampled: `recorded`, over
   * what was left then, before the update, in it, at the sampler and under the reference; `whole`, over the whole
   * vocabulary, where ratios to the sampler are too small. Entropies are of the whole vocabulary in both. Default: `recorded`.
   */
  samplingMask: option(
    oneOf(["recorded", "whole"]),
    "recorded",
    key(
      "lab.sampling_mask",
      "Over what log-probabilities are where top_k, top_p or min_p cut tokens off: what was left, or the whole vocabulary",
    ),
  ),
  /**
   * AEPO's entropy-aware advantage only beside an entropy bonus, as in the official actor, which has
   * no entropies while `entropyCoefficient` is 0: every published run went without. Default: off.
   */
  entropyAdvantageNeedsBonus: unset(flag),
  /**
   * Corrects for a sampler that is not the policy that trains: an endpoint, rounded weights. Default:
   * where a trajectory has such a sampler, weights per token, truncated at 2; `false`: never; `true`: always.
   */
  rolloutCorrection: unset(either("boolean", optionsOf<RolloutCorrection>(correctionRules))),
  /** What a loss draws with that takes tokens at random; split by step. Default: seed 0. */
  random: completing(
    valuesOf<Random>("random?"),
    (given) => given ?? Random.from(0).split("update"),
  ),
  /**
   * Visits the trajectories in a random order, another one in each epoch. Default: in their order.
   */
  shuffle: unset(valuesOf<Random>("random?")),
  /**
   * The frozen policy a KL loss is measured against: a model, or a policy that says
   * log-probabilities. Default: none; a KL loss needs one.
   */
  reference: unset(valuesOf<Reference>("object?")),
};

/** How a policy is updated. */
export interface UpdateOptions
  extends ActorLossOptions, Given<typeof updateTable>, Given<typeof distillationTable> {}

/** Options with those of the preset that they name below them. */
export function withPreset<T extends { preset?: PresetName }>(action: string, options: T): T {
  if (options?.preset === undefined) return options;
  const { preset, ...own } = options;
  return { ...named<object>(action, "preset", preset, learnPresets), ...defined(own) } as T;
}

/** The options of an update with their defaults. */
export type UpdateSettings = ActorLossOptions &
  Complete<typeof updateTable> &
  Complete<typeof distillationTable> &
  Required<Pick<UpdateOptions, "loss">>;

/** What every option of an update may be, under a loss. */
export const updateRules = (choice?: LossChoice): OptionRules<UpdateOptions> => ({
  ...lossRules(choice),
  ...rulesOf(updateTable),
  ...rulesOf(distillationTable),
});

function checkTogether(settings: UpdateOptions): void {
  if (typeof settings.rolloutCorrection === "object") correctionOf(settings.rolloutCorrection, []);
  clipBounds(settings);
  const loss = lossOf(settings);
  const [missing] = missingOf(loss, settings);
  if (missing !== undefined) {
    throw new TypeError(
      `Cannot update: ${missing} must be given for the loss ${loss.name}, got none`,
    );
  }
}

/** Options laid over each other, the later ones on top, and over the defaults; every one is checked. */
export function updateSettings(...options: readonly UpdateOptions[]): UpdateSettings {
  // A loss of one's own that another one replaces has told its options all the same.
  const rules = Object.assign(
    {},
    ...options.map((one) => updateRules(one)),
  ) as OptionRules<UpdateOptions>;
  const settings: UpdateOptions = {};
  for (const one of options) {
    checkOptions("update", one, rules);
    const given = withPreset("update", one);
    for (const [name, value] of Object.entries(given)) {
      // What a preset says to other functions stays out.
      if (value !== undefined && Object.hasOwn(rules, name))
        Object.assign(settings, { [name]: value });
    }
  }
  checkTogether(settings);
  const { loss = "vanilla" } = settings;
  const distillation = completed(distillationTable, settings, {});
  const complete = { ...settings, ...completed(updateTable, settings, {}), ...distillation, loss };
  if (complete.teacher !== undefined) checkDistillation(complete);
  return complete;
}
