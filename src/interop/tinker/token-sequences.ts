import type { SequenceToScore } from "../../policy/policy.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import type { TinkerDatum } from "./client/tinker-run.js";

/** What a server is told of a sequence. */
export interface TokenSequence {
  readonly trajectory: Pick<Trajectory, "prompt" | "tokens">;
}

/** Tokens of a sequence as a server takes them: all but the last, each with what follows it. */
export function shifted({
  trajectory: { prompt, tokens },
}: TokenSequence): Omit<TinkerDatum, "inputs"> {
  const all = new Int32Array(prompt.length + tokens.length);
  all.set(prompt);
  all.set(tokens, prompt.length);
  return { tokens: all.subarray(0, -1), targets: all.subarray(1) };
}

/** Numbers of a sequence's response tokens, laid out over what a server takes; 0 elsewhere. */
export function laidOut({ trajectory }: TokenSequence, values: ArrayLike<number>): Float32Array {
  const { prompt, tokens } = trajectory;
  const out = new Float32Array(prompt.length + tokens.length - 1);
  out.set(values as Float32Array, prompt.length - 1);
  return out;
}

/** The inverse of `laidOut`: a sequence's response tokens from what a server answered. */
export function ownPart({ trajectory }: TokenSequence, values: readonly number[]): Float32Array {
  const from = trajectory.prompt.length - 1;
  return Float32Array.from(values.slice(from, from + trajectory.tokens.length));
}

/** A sequence that is only read. */
export const readRow = ({ prompt, tokens }: SequenceToScore): TokenSequence => ({
  trajectory: { prompt: Int32Array.from(prompt), tokens: Int32Array.from(tokens) },
});

/** The surprisal of tokens, an estimate of their distributions' entropies without bias. */
export const surprisals = (logprobs: Float32Array): Float32Array => logprobs.map((p) => -p);
