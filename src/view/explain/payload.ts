import type { LossFacts } from "../../learn/losses/base/definition.js";
import type { FormulaLine } from "../../learn/losses/base/formula.js";
import type { Shared, TokenOutcome } from "../../learn/losses/base/token-rule.js";
import type { ActorLossOptions } from "../../learn/losses/loss-rules.js";

/** The settings an objective depends on. */
export type ObjectiveSettings = Omit<ActorLossOptions, "referenceNaN">;

/** A loss that the page does not have: what there is to know of it, and what it makes of each token. */
export interface RecordedLoss {
  facts: LossFacts;
  /** Null where nothing is trained. */
  tokens: ({ shared: Shared; outcome: TokenOutcome } | null)[];
}

/** A line of the library. */
export interface CodeLine {
  file: string;
  code: string;
  line: number;
}

/** One line of an objective: a formula in MathML whose values the page fills in, and its code. */
export type ExplainedLine = Omit<FormulaLine, "code"> & { code: CodeLine[] };

/** One algorithm on the batch. */
export interface ExplainedAlgorithm {
  name: string;
  label: string;
  summary: string;
  settings: ObjectiveSettings;
  /** Its loss, where that is none of the library's. */
  loss?: RecordedLoss;
  /** Its place in the payload's advantages. */
  advantages: number;
  lines: ExplainedLine[];
}

export interface ExplainedRow {
  label: string;
  start: number;
  length: number;
  /** The tree it comes from, and its nodes with where each ends in the trajectory; empty if unknown. */
  tree: number;
  stretches: [node: number, end: number][];
  /** Score of the trajectory, and mean, deviation and size of its group. */
  reward: number;
  groupMean: number;
  groupDeviation: number;
  groupSize: number;
}

/** What the explainer's page is given. */
export interface ExplainPayload {
  /** True if the batch went through an update: otherwise every ratio is 1. */
  updated: boolean;
  vocabulary: string[];
  /** Places in the vocabulary (ids where it is empty), 32-bit integers in base64. */
  tokens: string;
  /** 1 where the policy is trained. */
  mask: string;
  /** 32-bit floats, one per token, in base64. */
  logprobs: string;
  oldLogprobs: string;
  refLogprobs?: string;
  /** What the sampler said, where it was not the policy that trains. */
  sampledLogprobs?: string;
  entropies: string;
  /** What a correction for another sampler multiplies the token losses by, where there is one. */
  weights?: string;
  /** Those weights are of trajectories. */
  wholeWeights?: true;
  /** What a critic expects before each token. */
  values: string;
  /** What the update's own loss picked out of its batch, where it does so. */
  chosen?: string;
  rows: ExplainedRow[];
  /** What the algorithms gave: 32-bit floats, one per token, in base64. */
  advantages: string[];
  algorithms: ExplainedAlgorithm[];
  /** The algorithm that is looked at first. */
  first: string;
}
