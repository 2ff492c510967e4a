import type { Model } from "../model/index.js";
import type { Policy } from "../policy/index.js";

/** A policy that is asked and not trained: a model in memory, or anything that says log-probabilities. */
export type Reference = Model | Required<Pick<Policy, "logProbs">>;
