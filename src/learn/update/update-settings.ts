import { defined } from "../../../common/options/defined.js";
import {
  oneOf,
  above,
  checkOptions,
  either,
  fromTo,
  integer,
  integerOrAll,
  notNegative,
  optionsOf,
  type OptionRules,
  positive,
} from "../../../common/options/check-options.js";
import { named } from "../../../common/options/check-arguments.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Policy } from "../../policy/policies.js";
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
import { lossNameOf } from "../losses/registry.js";

/** A policy that is asked and not trained: a model in memory, or anything that says log-probabilities. */
export type Reference = Model | Required<Pick<Policy, "logProbs">>;

/** How a policy is updated. */
export interface UpdateOptions extends ActorLossOptions {
  /** What an algorithm's published runs set; options given beside it override it. Default: none. */
  preset?: PresetName;
  /** AdamW's learning rate. Default: 1e-6. */
  learningRate?: number;
  /** AdamW's decoupled weight decay. Default: 0.01. */
  weightDecay?: number;
  /** Largest global gradient norm (`grad_clip`). Default: 1. */
  maxNorm?: number;
  /** Trajectories per optimiser step (`ppo_mini_batch_size` x n). Default: the whole batch. */
  miniBatchSize?: number;
  /** Passes over the batch (`ppo_epochs`). Default: 1. */
  epochs?: number;
  /**
   * Tokens per forward pass, padding included, or without it and with shared beginnings once where
   * `sharedPrefixes` is on. Default: as many as keep 3 GiB for the backward pass, at most 16,384.
   */
  maxTokensPerPass?: number;
  /**
   * Trajectories per forward pass, where trajectories rather than tokens are limited. Default: no
   * limit.
   */
  maxSequencesPerPass?: number;
  /** The temperature the trajectories were sampled at. Default: 1. */
  temperature?: number;
  /**
   * Compute each layer again for its gradient instead of keeping its activations: less memory, more
   * time. Default: false.
   */
  checkpointing?: boolean;
  /**
   * Compute what trajectories begin with in common once: the same losses and gradients. Default: off, as the
   * reference.
   */
  sharedPrefixes?: boolean;
  /**
   * Take log-probabilities from before the update as the rollout said them, where it was this policy's own:
   * no second pass over the trajectories. They are the decoder's, equal to the model's up to rounding, so
   * trajectories must have been sampled by the weights of now at `temperature`. A trajectory that another
   * sampler wrote, or of which a trained token was not sampled, is measured all the same. Default: off.
   */
  reuseLogProbs?: boolean;
  /**
   * AEPO's entropy-aware advantage only beside an entropy bonus, as in the official actor, which has
   * no entropies while `entropyCoefficient` is 0: every published run went without. Default: off.
   */
  entropyAdvantageNeedsBonus?: boolean;
  /**
   * Corrects for a sampler that is not the policy that trains: an endpoint, rounded weights. Default:
   * where a trajectory has such a sampler, weights per token, truncated at 2; `false`: never; `true`: always.
   */
  rolloutCorrection?: RolloutCorrection | boolean;
  /** What a loss draws with that takes tokens at random; split by step. Default: seed 0. */
  random?: Random;
  /**
   * Visits the trajectories in a random order, another one in each epoch. Default: in their order.
   */
  shuffle?: Random;
  /**
   * The frozen policy a KL loss is measured against: a model, or a policy that says
   * log-probabilities. Default: none; a KL loss needs one.
   */
  reference?: Reference;
}

export const presetRule = oneOf(Object.keys(learnPresets));

/** Options with those of the preset that they name below them. */
export function withPreset<T extends { preset?: PresetName }>(action: string, options: T): T {
  if (options?.preset === undefined) return options;
  const { preset, ...own } = options;
  return { ...named<object>(action, "preset", preset, learnPresets), ...defined(own) } as T;
}

const defaults = {
  learningRate: 1e-6,
  weightDecay: 0.01,
  maxNorm: 1,
  epochs: 1,
  maxTokensPerPass: 16_384,
  temperature: 1,
  checkpointing: false,
  sharedPrefixes: false,
  reuseLogProbs: false,
} as const satisfies UpdateOptions;

/** The options of an update with their defaults. */
export type UpdateSettings = UpdateOptions &
  Required<Pick<UpdateOptions, keyof typeof defaults | "loss" | "random">>;

/** What every option of an update may be. */
export const updateRules: OptionRules<UpdateOptions> = {
  ...lossRules,
  preset: presetRule,
  learningRate: notNegative,
  weightDecay: notNegative,
  maxNorm: above(0),
  miniBatchSize: integerOrAll(1),
  epochs: integer(1),
  maxTokensPerPass: fromTo(1, Infinity),
  maxSequencesPerPass: integerOrAll(1),
  temperature: positive,
  checkpointing: "boolean?",
  sharedPrefixes: "boolean?",
  reuseLogProbs: "boolean?",
  entropyAdvantageNeedsBonus: "boolean?",
  rolloutCorrection: either("boolean", optionsOf<RolloutCorrection>(correctionRules)),
  random: "random?",
  shuffle: "random?",
  reference: "object?",
};

function checkTogether(settings: UpdateOptions): void {
  if (typeof settings.rolloutCorrection === "object") correctionOf(settings.rolloutCorrection, []);
  clipBounds(settings);
  if (lossNameOf(settings) === "dro" && settings.droBeta === undefined) {
    throw new TypeError("Cannot update: droBeta must be given for the loss dro, got none");
  }
}

/** Options laid over each other, the later ones on top, and over the defaults; every one is checked. */
export function updateSettings(...options: readonly UpdateOptions[]): UpdateSettings {
  const settings: UpdateOptions = { ...defaults, random: Random.from(0).split("update") };
  for (const one of options) {
    checkOptions("update", one, updateRules);
    const given = withPreset("update", one);
    for (const [name, value] of Object.entries(given)) {
      // What a preset says to other functions stays out.
      if (value !== undefined && Object.hasOwn(updateRules, name))
        Object.assign(settings, { [name]: value });
    }
  }
  checkTogether(settings);
  return { ...settings, loss: lossNameOf(settings) } as UpdateSettings;
}
