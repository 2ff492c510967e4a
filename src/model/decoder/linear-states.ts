import * as exact from "../../base/exact/index.js";
import type { LinearLayers } from "../architectures/definition.js";
import { linearWidths } from "../transformer/weights.js";
import type { LinearWeights } from "./weights.js";

/** What a layer of linear attention remembers of a sequence. */
export interface LinearState {
  /** What went into the convolution at the last `taps - 1` positions, the oldest first. */
  recent: Float32Array;
  /** The delta rule's state: a matrix [keyDim, valueDim] for each head of values. */
  memory: Float32Array;
}

/** The states of a sequence's layers; undefined for a layer that has none. */
export type States = readonly (LinearState | undefined)[];

/**
 * What the layers of linear attention remember of each sequence. States are not changed once they are kept: a fork has
 * its parent's until either reads on. A sequence that was cut back has none and is read again from its beginning.
 */
export class LinearStates {
  readonly #linear: LinearLayers;
  readonly #kept = new Map<number, States>();

  constructor(linear: LinearLayers) {
    this.#linear = linear;
  }

  /** A copy of a sequence's states to go on with; undefined where they must be computed from its tokens. */
  copy(sequence: number): States | undefined {
    return this.#kept
      .get(sequence)
      ?.map((state) => state && { recent: state.recent.slice(), memory: state.memory.slice() });
  }

  /** The states of a sequence without tokens. */
  fresh(): States {
    const { layers, valueHeads, keyDim, valueDim, taps } = this.#linear;
    const { mixed } = linearWidths(this.#linear);
    return layers.map((has) =>
      has
        ? {
            recent: new Float32Array((taps - 1) * mixed),
            memory: new Float32Array(valueHeads * keyDim * valueDim),
          }
        : undefined,
    );
  }

  keep(sequence: number, states: States): void {
    this.#kept.set(sequence, states);
  }

  fork(sequence: number, fork: number): void {
    const states = this.#kept.get(sequence);
    if (states) this.#kept.set(fork, states);
  }

  forget(sequence: number): void {
    this.#kept.delete(sequence);
  }

  /** Bytes of all states; those that sequences share count once. */
  bytes(): number {
    let numbers = 0;
    for (const states of new Set(this.#kept.values())) {
      for (const state of states) if (state) numbers += state.recent.length + state.memory.length;
    }
    return 4 * numbers;
  }
}

const silu = (x: number): number => x / (1 + exact.exp(-x));
const sigmoid = (x: number): number => 1 / (1 + exact.exp(-x));
/** ln(1 + e^x), as PyTorch has it for large x. */
const softplus = (x: number): number => (x > 20 ? x : exact.log(1 + exact.exp(x)));

/** Divides a vector by its length. */
function direction(x: Float64Array, scale: number): void {
  let squares = 0;
  for (const value of x) squares += value * value;
  const factor = scale / Math.sqrt(squares + 1e-6);
  for (let i = 0; i < x.length; i++) x[i]! *= factor;
}

/** The convolution at one position, with SiLU; `mixed` is remembered for the positions after it. */
function convolved(mixed: Float64Array, weights: Float32Array, recent: Float32Array): Float64Array {
  const width = mixed.length;
  const taps = weights.length / width;
  const out = new Float64Array(width);
  for (let c = 0; c < width; c++) {
    let sum = weights[c * taps + taps - 1]! * mixed[c]!;
    for (let t = 0; t < taps - 1; t++) sum += weights[c * taps + t]! * recent[t * width + c]!;
    out[c] = silu(sum);
  }
  // With one tap nothing is remembered.
  if (taps > 1) {
    recent.copyWithin(0, width);
    recent.set(mixed, recent.length - width);
  }
  return out;
}

/** What is multiplied by the layer's matrices at a position, in its order. */
export interface LinearInputs {
  mixed: Float64Array;
  gate: Float64Array;
  beta: Float64Array;
  decay: Float64Array;
}

/** One position of linear attention, up to the output matrix; the state goes on. */
export function linearStep(
  linear: LinearLayers,
  {
    taps,
    rate,
    rateBias,
    answerScale,
  }: Pick<LinearWeights, "taps" | "rate" | "rateBias" | "answerScale">,
  { mixed, gate, beta, decay }: LinearInputs,
  { recent, memory }: LinearState,
  normEps: number,
): Float64Array {
  const { keyHeads, valueHeads, keyDim, valueDim } = linear;
  const { keys, values } = linearWidths(linear);
  const all = convolved(mixed, taps, recent);
  const out = new Float64Array(values);
  const query = all.subarray(0, keys);
  const key = all.subarray(keys, 2 * keys);
  for (let head = 0; head < keyHeads; head++) {
    direction(query.subarray(head * keyDim, (head + 1) * keyDim), 1 / Math.sqrt(keyDim));
    direction(key.subarray(head * keyDim, (head + 1) * keyDim), 1);
  }
  for (let head = 0; head < valueHeads; head++) {
    const first = Math.floor((head * keyHeads) / valueHeads) * keyDim;
    const fade = exact.exp(-exact.exp(rate[head]!) * softplus(decay[head]! + rateBias[head]!));
    const written = sigmoid(beta[head]!);
    const from = 2 * keys + head * valueDim;
    const state = memory.subarray(head * keyDim * valueDim, (head + 1) * keyDim * valueDim);
    const known = new Float64Array(valueDim);
    for (let i = 0, at = 0; i < keyDim; i++) {
      const k = key[first + i]!;
      for (let j = 0; j < valueDim; j++) known[j]! += state[at++]! * k;
    }
    for (let j = 0; j < valueDim; j++) known[j] = (all[from + j]! - fade * known[j]!) * written;
    const answer = out.subarray(head * valueDim, (head + 1) * valueDim);
    for (let i = 0, at = 0; i < keyDim; i++) {
      const [k, q] = [key[first + i]!, query[first + i]!];
      for (let j = 0; j < valueDim; j++, at++) {
        const value = Math.fround(state[at]! * fade + k * known[j]!);
        state[at] = value;
        answer[j]! += q * value;
      }
    }
    let squares = 0;
    for (const value of answer) squares += value * value;
    const scale = 1 / Math.sqrt(squares / valueDim + normEps);
    for (let j = 0; j < valueDim; j++) {
      answer[j]! *= scale * answerScale[j]! * silu(gate[head * valueDim + j]!);
    }
  }
  return out;
}
