import type { ModelConfig } from "../../model/config.js";
import { defined } from "../../../common/options/defined.js";
import { linearWidths } from "../../model/transformer/weights.js";
import { shareRows } from "../../model/transformer/sharing.js";
import type { Model } from "../../model/transformer/transformer.js";
import { embed } from "../../tensor/ops/embed.js";
import { tf } from "../../tensor/tf.js";
import { supportAt } from "../../policy/token-sets.js";
import {
  type LabelSupport,
  logitsOf,
  overSupports,
} from "../../tensor/ops/log-prob-entropy-from-hidden.js";
import { trainedMask, type PreparedSequence, type ScoredSequence } from "../batch.js";
import { aggregationOf, type AggregationChoice } from "../losses/registry.js";

/** Tokens of sequences that are padded to the longest. */
class PaddedCount {
  #sequences = 0;
  #longest = 0;

  /** What it would be with another sequence. */
  with({ length }: ArrayLike<number>): number {
    return (this.#sequences + 1) * Math.max(this.#longest, length);
  }

  add({ length }: ArrayLike<number>): void {
    this.#sequences++;
    this.#longest = Math.max(this.#longest, length);
  }
}

type Followers = Map<number, Followers>;

/** A place in a sequence takes a quarter of what a shared token does: gradients of keys and values alone are laid out. */
const PLACE = 1 / 4;

/** Tokens of sequences that are laid over each other: what they begin with in common counts once. */
class SharedCount {
  readonly #begin: Followers = new Map();
  readonly #places = new PaddedCount();
  #tokens = 0;

  /** What it would be with another sequence. */
  with(sequence: ArrayLike<number>): number {
    let at: Followers | undefined = this.#begin;
    let t = 0;
    while (t < sequence.length && (at = at.get(sequence[t]!))) t++;
    return Math.max(this.#tokens + sequence.length - t, this.#places.with(sequence) * PLACE);
  }

  add(sequence: ArrayLike<number>): void {
    this.#places.add(sequence);
    let at = this.#begin;
    for (let t = 0; t < sequence.length; t++) {
      let next = at.get(sequence[t]!);
      if (!next) {
        at.set(sequence[t]!, (next = new Map()));
        this.#tokens++;
      }
      at = next;
    }
  }
}

/**
 * What a part of a mini-batch weighs, so that the split does not change the gradient: its tokens for a
 * mean over tokens, its number of sequences for a mean over sequences, and 1 for a sum, which adds up by itself.
 */
export function passWeight(sequences: readonly PassSequence[], options: AggregationChoice): number {
  const { mode, rule } = aggregationOf(options);
  const tokens = sequences.map((sequence) => trainedMask(sequence).reduce((a, b) => a + b, 0));
  if (mode === "token-sum" || mode === "prompt-mean") return 1;
  if (mode === "token-mean") return tokens.reduce((sum, n) => sum + n, 0);
  if (rule === "verl-0.9.1") return tokens.filter((n) => n > 0).length;
  // The older one divides by a padded length alone: again a sum.
  return mode === "seq-mean-token-sum-norm" && rule === "older" ? 1 : sequences.length;
}

/** What a pass may keep for its way back, in bytes. */
const kept = 3 * 2 ** 30;

/** A pass never holds more, however small the model. */
const most = 16_384;

/**
 * What a layer keeps of a token for its way back, in numbers: the norms, the projections, attention's
 * answer, the feed-forward. Found by training models of different sizes; docs/internal/log/ has the figures.
 */
export function keptPerLayer(config: ModelConfig): number {
  const { hiddenSize, heads, kvHeads, headDim, intermediateSize, linear } = config;
  const attention = 2 * (heads + kvHeads) * headDim;
  // Linear attention keeps what goes into its convolution, its gates and its answer, and makes the rest anew.
  const { mixed, values } = linear ? linearWidths(linear) : { mixed: 0, values: 0 };
  const mixing = Math.max(attention, mixed + 4 * values);
  return 6 * hiddenSize + mixing + 3 * intermediateSize;
}

/**
 * How many tokens go through a model together where nobody says: as many as leave 3 GiB for what a pass
 * keeps for its way back, at most 16,384. It depends on the model's sizes alone, so that the same run has
 * the same bytes on every machine.
 */
export function tokensAtOnce(config: ModelConfig): number {
  const bytes = 4 * config.layers * keptPerLayer(config);
  return Math.max(1, Math.min(most, Math.floor(kept / bytes)));
}

/** What a pass reads of a sequence. */
export type PassSequence = Pick<ScoredSequence, "trajectory"> & Pick<PreparedSequence, "keptMask">;

/** No ids: the whole vocabulary. */
const nothing = new Int32Array(0);

/** Sequences that go through the model together. */
interface Pass {
  sequences: readonly PassSequence[];
  /** Prompt and response of each sequence, padded on the right. */
  batch: ReturnType<Model["batch"]>;
  /** The token behind each position, [sequences, time]. */
  labels: tf.Tensor2D;
  time: number;
}

/** Tokens of a sequence, prompt and response. */
const length = ({ trajectory }: PassSequence) =>
  trajectory.prompt.length + trajectory.tokens.length;

/** How passes are bounded. */
interface PassBounds {
  maxTokensPerPass: number;
  maxSequencesPerPass?: number;
  /** Count what sequences begin with in common once, and places for a quarter where they are more. */
  sharedPrefixes?: boolean;
}

/** Splits sequences, in order, so that each pass keeps to its bounds; a sequence that is longer goes alone. */
export function splitByTokens<R extends PassSequence>(
  sequences: readonly R[],
  bounds: PassBounds,
): R[][] {
  return splitSequences(sequences, whole, bounds);
}

/** The same for anything that has tokens. */
export function splitSequences<R>(
  sequences: readonly R[],
  tokensOf: (sequence: R) => ArrayLike<number>,
  { maxTokensPerPass, maxSequencesPerPass = Infinity, sharedPrefixes }: PassBounds,
): R[][] {
  const passes: R[][] = [];
  const counter = () => (sharedPrefixes ? new SharedCount() : new PaddedCount());
  let count = counter();
  for (const sequence of sequences) {
    const tokens = tokensOf(sequence);
    let current = passes.at(-1);
    const full = current !== undefined && current.length >= maxSequencesPerPass;
    if (!current || full || count.with(tokens) > maxTokensPerPass) {
      passes.push((current = []));
      count = counter();
    }
    current.push(sequence);
    count.add(tokens);
  }
  return passes;
}

/** Prompt and response. */
function whole({ trajectory: { prompt, tokens, tree, id } }: PassSequence): Int32Array {
  if (prompt.length === 0) {
    throw new RangeError(
      `Cannot run a model over a trajectory: its prompt must have a token, which the first one follows, got none for trajectory ${id} of tree ${tree}`,
    );
  }
  const all = new Int32Array(prompt.length + tokens.length);
  all.set(prompt);
  all.set(tokens, prompt.length);
  return all;
}

/** Builds the tensors of one pass. Call inside a tidy. */
export function openPass(model: Model, sequences: readonly PassSequence[]): Pass {
  const tokens = sequences.map(whole);
  const batch = model.batch(tokens);
  const time = batch.ids.shape[1];
  const labels = new Int32Array(sequences.length * time);
  tokens.forEach((sequence, r) => labels.set(sequence.subarray(1), r * time));
  return {
    sequences,
    batch,
    labels: tf.tensor2d(labels, [sequences.length, time], "int32"),
    time,
  };
}

/** ln p and entropy of each sequence's tokens, at the places where they are predicted: [sequences, time]. */
export interface PassLogProbs {
  logprobs: tf.Tensor2D;
  entropies: tf.Tensor2D;
  /** The whole distributions [count, vocabulary] where they are asked for, and which of them each place has. */
  distributions?: { logprobs: tf.Tensor2D; places: Int32Array };
}

/**
 * Runs a model over a pass. Only what predicts a response's token gets logits: elsewhere the result holds
 * numbers that mean nothing. With `shared`, what sequences begin with in common is computed once and the
 * result is laid out over the sequences again, so that whatever is made of it is what it would be without:
 * the gradients of a shared token's sequences add up before they go back through it. Call inside a tidy.
 */
export function passLogProbs(
  model: Model,
  sequences: readonly PassSequence[],
  options: {
    temperature: number;
    checkpointing?: boolean;
    shared?: boolean;
    whole?: boolean;
    /** Over what was left where tokens were sampled, or the whole vocabulary. */
    samplingMask?: "recorded" | "whole";
  },
): PassLogProbs {
  const tokens = sequences.map(whole);
  const { temperature, checkpointing, shared, whole: all, samplingMask = "recorded" } = options;
  const { batch, index, time } = shared ? shareRows(tokens, model.config) : apart(model, tokens);
  // Each token of a response is predicted behind the token before it; a shared one once.
  const after: number[] = [];
  const labels: number[] = [];
  const predicted = new Map<string, number>();
  const supports: LabelSupport[] = [];
  const places = new Int32Array(sequences.length * time);
  sequences.forEach(({ trajectory }, r) => {
    for (let t = trajectory.prompt.length; t < tokens[r]!.length; t++) {
      // What a tool wrote was not sampled, and counts for nothing.
      const place = t - trajectory.prompt.length;
      const support =
        trajectory.support && samplingMask === "recorded" && trajectory.lossMask[place]
          ? supportAt(trajectory.support, place)
          : nothing;
      // Another support of the same token is another number.
      const token = `${index[r * time + t]!} ${support.join()}`;
      let at = predicted.get(token);
      if (at === undefined) {
        at = labels.length;
        after.push(index[r * time + t - 1]!);
        labels.push(tokens[r]![t]!);
        supports.push({ label: tokens[r]![t]!, ids: support });
        predicted.set(token, at);
      }
      places[r * time + t - 1] = at;
    }
  });
  if (labels.length === 0) {
    after.push(0);
    labels.push(0);
    supports.push({ label: 0, ids: nothing });
  }
  const where = tf.tensor2d(places, [sequences.length, time], "int32");
  const spread = (x: tf.Tensor1D): tf.Tensor2D =>
    embed(x.expandDims(1), where).reshape([sequences.length, time]);
  if (all) {
    const told = { temperature, ...defined({ checkpointing }) };
    const logprobs = model.distributionsAt(batch, tf.tensor1d(after, "int32"), told);
    const vocabulary = logprobs.shape[1];
    const own = tf.tensor1d(
      labels.map((label, i) => i * vocabulary + label),
      "int32",
    );
    const entropies = logprobs.exp().mul<tf.Tensor2D>(logprobs).sum<tf.Tensor1D>(-1).neg();
    return {
      logprobs: spread(
        overSupports(embed(logprobs.reshape([-1, 1]), own).as1D(), supports, logitsOf(logprobs)),
      ),
      entropies: spread(entropies as tf.Tensor1D),
      distributions: { logprobs, places },
    };
  }
  const found = model.logProbsAt(batch, tf.tensor1d(after, "int32"), tf.tensor1d(labels, "int32"), {
    temperature,
    checkpointing,
    supports,
  });
  return { logprobs: spread(found.logprobs), entropies: spread(found.entropies) };
}

/** Sequences side by side, and where each token of the padded sequences is: in its place. */
function apart(model: Model, tokens: readonly Int32Array[]) {
  const batch = model.batch(tokens);
  const time = batch.ids.shape[1];
  return { batch, index: Int32Array.from({ length: tokens.length * time }, (_, i) => i), time };
}

/**
 * Lays one number per response token out over a pass: a token's number stands where it is predicted,
 * one position before the token itself.
 */
export function spreadOver<R extends PassSequence>(
  sequences: readonly R[],
  pick: (sequence: R) => ArrayLike<number>,
): tf.Tensor2D {
  const time = Math.max(...sequences.map(length));
  const out = new Float32Array(sequences.length * time);
  sequences.forEach((sequence, r) => {
    out.set(pick(sequence) as Float32Array, r * time + sequence.trajectory.prompt.length - 1);
  });
  return tf.tensor2d(out, [sequences.length, time]);
}

/** The inverse of `spreadOver`: each sequence's response tokens from the numbers of a pass over the sequences. */
export function gatherFrom(
  sequences: readonly PassSequence[],
  values: Float32Array,
): Float32Array[] {
  const time = values.length / sequences.length;
  return sequences.map(({ trajectory }, r) => {
    const from = r * time + trajectory.prompt.length - 1;
    return values.slice(from, from + trajectory.tokens.length);
  });
}
