import type { RejectionTest } from "../../../learn/correction/rejection.js";
import type { ActorLossOptions } from "../../../learn/losses/loss-rules.js";

/** What the sliders say; what nobody touched is the update's own. */
export interface TunerSettings {
  loss: string;
  /** How far the ratio may move below and above 1, and the dual clip's bound. */
  low: number;
  high: number;
  c: number;
  /** Importance weights against the sampler, and what they are cut at. */
  weights: "none" | "token" | "sequence";
  cap: number;
  /** Weights out of bounds become 0. */
  drop: boolean;
  /** Leave out what has a negative advantage in trajectories that have fallen by more than this; null: off. */
  offPolicyMask: number | null;
  /** A test that tokens or sequences must pass, and what it is held to. */
  reject: RejectionTest | "none";
  rejectAt: number;
  /** Log-probabilities over the whole vocabulary, also where top-k, top-p or min-p cut it. */
  whole: boolean;
}

/** A trajectory of the batch. */
export interface TunerRow {
  label: string;
  start: number;
  length: number;
}

/** What a tuner's page is given: stored log-probabilities. */
export interface TunerPayload {
  title: string;
  vocabulary: string[];
  /** Places in the vocabulary (ids where it is empty), 32-bit integers in base64. */
  tokens: string;
  /** 1 where a token is trained and its log-probabilities are known. */
  mask: string;
  /** 32-bit floats, one per token, in base64: ln p now, before the update, and at the sampler. */
  logprobs: string;
  oldLogprobs: string;
  sampledLogprobs: string;
  advantages: string;
  entropies: string;
  /** ln of the probability that top-k, top-p or min-p left at the sampler, where they cut. */
  keptMass?: string;
  rows: TunerRow[];
  /** Losses that can be chosen, with their titles and whether they read the clip bounds and the dual clip's. */
  losses: { name: string; title: string; clips: boolean; readsC: boolean }[];
  /** The update's own settings: of its loss, and where the sliders begin. */
  own: ActorLossOptions;
  first: TunerSettings;
  /** What was left out, in sentences. */
  left: string[];
}
