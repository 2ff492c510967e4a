import { defined } from "../../common/options/defined.js";
import type { Decoder, Sampled, StepSampling } from "../../src/model/decoder/decoder.js";

/** A token that is another one than the right decoder's. */
export interface Otherwise {
  row: number;
  position: number;
  ours: number;
  right: number;
  /** Whether a draw that differs by rounding gives ours, too. */
  tie: boolean;
}

/** How far a draw may be moved to call a difference a tie. */
const NUDGE = 1e-5;

/**
 * A decoder beside one that is right: every call goes to both, and every step is compared on the same
 * past and the same draws. What the first one says continues.
 */
export class MirroredDecoder implements Decoder {
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly #ours: Decoder;
  readonly #right: Decoder;
  readonly #twins = new Map<number, number>();
  readonly otherwise: Otherwise[] = [];
  steps = 0;
  forks = 0;
  truncations = 0;
  mostRows = 0;
  apart = 0;

  constructor(ours: Decoder, right: Decoder) {
    this.#ours = ours;
    this.#right = right;
    this.vocabSize = right.vocabSize;
    this.contextLength = right.contextLength;
  }

  open(): number {
    return this.#pair(this.#ours.open(), this.#right.open());
  }

  fork(row: number): number {
    this.forks++;
    return this.#pair(this.#ours.fork(row), this.#right.fork(this.#twin(row)));
  }

  truncate(row: number, length: number): void {
    if (length < this.length(row)) this.truncations++;
    this.#ours.truncate(row, length);
    this.#right.truncate(this.#twin(row), length);
  }

  close(row: number): void {
    this.#ours.close(row);
    this.#right.close(this.#twin(row));
    this.#twins.delete(row);
  }

  length(row: number): number {
    return this.#ours.length(row);
  }

  async step(
    rows: Int32Array,
    tokens: Int32Array,
    offsets: Int32Array,
    sampling: StepSampling,
  ): Promise<Sampled> {
    const twins = rows.map((row) => this.#twin(row));
    const right = await this.#right.step(twins, tokens, offsets, sampling);
    const ours = await this.#ours.step(rows, tokens, offsets, sampling);
    this.steps++;
    this.mostRows = Math.max(this.mostRows, rows.length);
    for (const name of ["entropies", "topLogprobs"] as const) {
      for (const [i, value] of right[name].entries()) {
        this.apart = Math.max(this.apart, Math.abs(ours[name][i]! - value) / (1 + Math.abs(value)));
      }
    }
    for (const [i, token] of right.tokens.entries()) {
      const own = ours.tokens[i]!;
      if (own === token) continue;
      const last = tokens[offsets[i + 1]! - 1]!;
      const tie = await this.#ties(twins[i]!, last, one(sampling, i), own);
      const row = rows[i]!;
      this.otherwise.push({ row, position: this.length(row), ours: own, right: token, tie });
    }
    return ours;
  }

  refresh(): void {
    this.#ours.refresh();
    this.#right.refresh();
  }

  bytes(): number {
    return this.#ours.bytes();
  }

  dispose(): void {
    this.#ours.dispose();
    this.#right.dispose();
  }

  /** The last step of one sequence again, with a draw a little to either side. */
  async #ties(row: number, last: number, sampling: StepSampling, own: number): Promise<boolean> {
    for (const nudge of [-NUDGE, NUDGE]) {
      this.#right.truncate(row, this.#right.length(row) - 1);
      const uniform = Float64Array.of(Math.min(1, Math.max(0, sampling.uniform[0]! + nudge)));
      const again = await this.#right.step(
        ...[Int32Array.of(row), Int32Array.of(last), Int32Array.of(0, 1)],
        { ...sampling, uniform },
      );
      if (again.tokens[0] === own) return true;
    }
    return false;
  }

  #pair(ours: number, right: number): number {
    this.#twins.set(ours, right);
    return ours;
  }

  #twin(row: number): number {
    return this.#twins.get(row)!;
  }
}

/** One sequence's part of the settings. */
function one(sampling: StepSampling, i: number): StepSampling {
  return {
    ...sampling,
    temperature: sampling.temperature.slice(i, i + 1),
    topK: sampling.topK.slice(i, i + 1),
    topP: sampling.topP.slice(i, i + 1),
    minP: sampling.minP.slice(i, i + 1),
    repetitionPenalty: sampling.repetitionPenalty.slice(i, i + 1),
    uniform: sampling.uniform.slice(i, i + 1),
    ...defined({
      allowedAt: sampling.allowedAt?.slice(i, i + 1),
      constrained: sampling.constrained?.slice(i, i + 1),
    }),
  };
}
