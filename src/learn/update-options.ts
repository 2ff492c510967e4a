import type { Random } from "../random/random.js";
import type { RolloutCorrection } from "./correction/rollout-correction.js";
import type { ActorLossOptions } from "./loss/losses.js";
import type { PresetName } from "../rollout/preset-name.js";
import type { Reference } from "./reference-policy.js";

/** How a policy is updated. */
export interface UpdateOptions extends ActorLossOptions {
  /** What an algorithm's published runs set; options given beside it override it. */
  preset?: PresetName;
  /** Default: 1e-6. */
  learningRate?: number;
  /** Default: 0.01. */
  weightDecay?: number;
  /** Largest global gradient norm (`grad_clip`). Default: 1. */
  maxNorm?: number;
  /** Rows per optimiser step (`ppo_mini_batch_size` x n); unset: the whole batch. */
  miniBatchRows?: number;
  /** Passes over the batch (`ppo_epochs`). Default: 1. */
  epochs?: number;
  /**
   * Tokens per forward pass, padding included, or without it and with shared beginnings once where
   * `sharedPrefixes` is on. Default: as many as keep 3 GiB for the way back, at most 16,384.
   */
  maxTokensPerPass?: number;
  /** Rows per forward pass, where rows rather than tokens are limited. */
  maxRowsPerPass?: number;
  /** The temperature the rows were sampled at. Default: 1. */
  temperature?: number;
  checkpointing?: boolean;
  /**
   * Compute what rows begin with in common once: the same losses and gradients. Default: off, as the
   * reference.
   */
  sharedPrefixes?: boolean;
  /**
   * Take log-probabilities from before the update as the rollout said them, where it was this policy's own:
   * no second pass over the rows. They are the decoder's, equal to the model's up to rounding, so rows must
   * have been sampled by the weights of now at `temperature`. A row that another sampler wrote, or of which a
   * trained token was not sampled, is measured all the same. Default: off.
   */
  reuseLogProbs?: boolean;
  /**
   * AEPO's entropy-aware advantage only beside an entropy bonus, as in the official actor, which has
   * no entropies while `entropyCoefficient` is 0: every published run went without. Default: off.
   */
  entropyAdvantageNeedsBonus?: boolean;
  /**
   * Corrects for a sampler that is not the policy that trains: an endpoint, rounded weights. Default:
   * where a row has such a sampler, weights per token, truncated at 2; `false`: never; `true`: always.
   */
  rolloutCorrection?: RolloutCorrection | boolean;
  /** What a loss draws with that takes tokens at random; split by step. Default: seed 0. */
  random?: Random;
  /** Visits the rows in a random order, another one in each epoch. */
  shuffle?: Random;
  /** The frozen policy a KL loss is measured against: a model, or a policy that says log-probabilities. */
  reference?: Reference;
}
