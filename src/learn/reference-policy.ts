import type { Model } from "../model/transformer/transformer.js";
import type { Policy } from "../policy/policies.js";

/** A policy that is asked and not trained: a model in memory, or anything that says log-probabilities. */
export type Reference = Model | Required<Pick<Policy, "logProbs">>;
