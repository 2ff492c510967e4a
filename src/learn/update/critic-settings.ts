import {
  above,
  fromTo,
  integer,
  integerOrAll,
  notNegative,
  valuesOf,
} from "../../../common/options/check-options.js";
import {
  type Given,
  following,
  type Following,
  key,
  type Named,
  option,
  unset,
} from "../../../common/options/option-table.js";
import { valueTable } from "../losses/base/options.js";

export const criticTable = {
  /** AdamW's learning rate. Default: 1e-5. */
  learningRate: option(notNegative, 1e-5, key("critic.optim.lr", "Learning rate", { above: 0 })),
  /** AdamW's decoupled weight decay. Default: 0.01. */
  weightDecay: option(
    notNegative,
    0.01,
    key("critic.optim.weight_decay", "AdamW's decoupled weight decay"),
  ),
  /** Gradients whose joint norm is above this are scaled down to it. Default: 1. */
  maxNorm: option(above(0), 1, key("critic.grad_clip", "Largest global gradient norm")),
  /** Trajectories per optimiser step. Default: the whole batch. */
  miniBatchSize: unset(integerOrAll(1)),
  /** Passes over the batch. Default: 1. */
  epochs: option(
    integer(1),
    1,
    key("critic.ppo_epochs", "Passes over a batch", { most: 1_000_000 }),
  ),
  /**
   * Tokens per forward pass, padding included. Default: as many as keep 3 GiB for the backward pass, at most
   * 16,384.
   */
  maxTokensPerPass: following(fromTo(1, Infinity)) satisfies Following<number, number>,
  /**
   * Trajectories per forward pass, where trajectories rather than tokens are limited. Default: no
   * limit.
   */
  maxSequencesPerPass: unset(integerOrAll(1)),
  /** How far a value may move from the old one. Default: 0.5. */
  clipRange: valueTable.clipRange,
  /** How token losses become one number. Default: `token-mean`. */
  aggregation: valueTable.aggregation,
  /**
   * Compute each layer again for its gradient instead of keeping its activations: less memory, more
   * time. Default: false.
   */
  checkpointing: option(
    valuesOf<boolean>("boolean?"),
    false,
    key("critic.model.enable_gradient_checkpointing", "Recompute activations", { by: true }),
  ),
};

export interface CriticOptions extends Given<typeof criticTable>, Named {}
