import type { PassLoss, StepSettings } from "./model-optimizer.js";
import type { PassLogProbs, PassRow } from "./token-passes.js";
import type { UpdateSettings } from "./update-settings.js";

/** What is measured of rows: one list per row, one number per response token. */
export interface RowMeasures {
  logprobs: Float32Array[];
  /** Of the whole distribution; where nobody says it, what stands for it. */
  entropies: Float32Array[];
}

/** What one optimiser step did. */
export interface StepReport {
  /** The gradient's norm before clipping; NaN where it is not said. */
  norm: number;
  /** Nothing was changed: the gradient was not finite. */
  skipped: boolean;
  /** Figures of its own, under the names they are reported by. */
  figures?: Readonly<Record<string, number>>;
}

/** One optimiser step, in as many passes as memory asks for. */
export interface StepWork<R extends PassRow> {
  passes: readonly R[][];
  /** What a pass minimises, given what the rows' tokens are worth. Called inside a tidy. */
  lossOf: (pass: R[], found: PassLogProbs) => PassLoss;
  /** Told each pass's figures. */
  seen: (pass: R[], figures: Record<string, Float32Array>) => void;
  settings: UpdateSettings;
  now: StepSettings;
}

/**
 * What an update trains, wherever it is: it says how likely rows' tokens are, and moves along the
 * gradient of a loss of that. A model in memory is one; a model at a server another.
 */
export interface Trainee {
  /** Optimiser steps taken. */
  readonly steps: number;
  /** Refuses settings that it cannot follow. */
  check?(settings: UpdateSettings): void;
  measure(rows: readonly PassRow[], settings: UpdateSettings): Promise<RowMeasures>;
  step<R extends PassRow>(work: StepWork<R>): Promise<StepReport>;
}
