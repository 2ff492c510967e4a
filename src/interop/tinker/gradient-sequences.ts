import type { PassSequence } from "../../learn/update/passes.js";
import type { TinkerDatum, TinkerLoss } from "./client/tinker-run.js";
import { laidOut, shifted } from "./token-sequences.js";
import type { TinkerCapabilities } from "./capabilities.js";

/** A sequence with dL/dlogp of each of its response tokens, and the logp that was taken at. */
export interface GradientSequence {
  sequence: PassSequence;
  gradient: Float32Array;
  logprobs: Float32Array;
}

const moves = ({ gradient }: GradientSequence) => gradient.some((g) => g !== 0);

/** The sequences that have a gradient; one of the others where there is none, so that a step has a sequence. */
export function movingSequences(sequences: readonly GradientSequence[]): GradientSequence[] {
  const moving = sequences.filter(moves);
  return moving.length > 0 ? moving : sequences.slice(0, 1);
}

/**
 * Sequences whose loss at a server has exactly the gradient given, whatever loss it was taken of.
 *
 * Where a server sums, that is cross-entropy under the weights -dL/dlogp. Where it takes means, weights
 * are what it divides by, so a sum of them near zero would blow a sequence up: there it is CISPO with its
 * ratio clipped to 1, whose gradient is the advantage, with the server's divisors put into the advantages
 * beforehand. `count` is the number of sequences of the whole optimiser step.
 */
export function exactGradient(
  sequences: readonly GradientSequence[],
  capabilities: Pick<TinkerCapabilities, "reduction">,
  count: number,
): { loss: TinkerLoss; data: TinkerDatum[] } {
  if (capabilities.reduction === "sum") {
    return {
      loss: { name: "cross_entropy" },
      data: sequences.map(({ sequence, gradient }) => ({
        ...shifted(sequence),
        inputs: {
          weights: laidOut(
            sequence,
            gradient.map((g) => -g),
          ),
        },
      })),
    };
  }
  return {
    loss: { name: "cispo", config: { clip_low_threshold: 1, clip_high_threshold: 1 } },
    data: sequences.map((sequence) => ratioSequence(sequence, capabilities, count)),
  };
}

/**
 * A sequence for a server's loss of the ratio to `logprobs`, whose gradient is minus the advantage at a ratio
 * of 1: the advantages are those whose sum, or mean of means, has the gradient given.
 */
export function ratioSequence(
  { sequence, gradient, logprobs }: GradientSequence,
  { reduction }: Pick<TinkerCapabilities, "reduction">,
  count: number,
): TinkerDatum {
  const taking = gradient.map((g) => (g === 0 ? 0 : 1));
  const tokens = taking.reduce((sum, n) => sum + n, 0);
  const divisor = reduction === "mean" ? Math.max(1, tokens) * count : 1;
  return {
    ...shifted(sequence),
    inputs: {
      ...(reduction === "mean"
        ? { weights: laidOut(sequence, tokens > 0 ? taking : gradient.map(() => 1)) }
        : {}),
      advantages: laidOut(
        sequence,
        gradient.map((g) => -g * divisor),
      ),
      logprobs: laidOut(
        sequence,
        logprobs.map((p, t) => (taking[t] ? p : 0)),
      ),
    },
  };
}
