import type { Decoder, Sampled, StepSampling } from "../../src/model/decoder/decoder.js";

/** A decoder for tests: the next token is a function of the sequence's tokens and its draw. */
export class ScriptedDecoder implements Decoder {
  readonly vocabSize: number;
  readonly contextLength: number;
  /** Every step so far: what each sequence was fed. */
  readonly steps: number[][][] = [];
  refreshed = 0;
  readonly #next: (tokens: readonly number[], uniform: number) => number;
  readonly #rows = new Map<number, number[]>();
  #opened = 0;

  constructor(
    sizes: { vocabSize: number; contextLength: number },
    next: (tokens: readonly number[], uniform: number) => number,
  ) {
    this.vocabSize = sizes.vocabSize;
    this.contextLength = sizes.contextLength;
    this.#next = next;
  }

  get rows(): number {
    return this.#rows.size;
  }

  /** Tokens fed in all steps together. */
  get fed(): number {
    return this.steps.flat(2).length;
  }

  open(): number {
    this.#rows.set(this.#opened, []);
    return this.#opened++;
  }

  fork(row: number): number {
    this.#rows.set(this.#opened, [...this.#get(row)]);
    return this.#opened++;
  }

  truncate(row: number, length: number): void {
    this.#get(row).length = length;
  }

  close(row: number): void {
    this.#get(row);
    this.#rows.delete(row);
  }

  length(row: number): number {
    return this.#get(row).length;
  }

  step(rows: Int32Array, tokens: Int32Array, offsets: Int32Array, sampling: StepSampling): Sampled {
    const { top } = sampling;
    const count = rows.length;
    const fed = [...rows.keys()].map((i) => [...tokens.subarray(offsets[i], offsets[i + 1])]);
    this.steps.push(fed);
    const next = [...rows].map((row, i) =>
      this.#next([...this.#get(row), ...fed[i]!], sampling.uniform[i]!),
    );
    for (const [i, row] of rows.entries()) this.#get(row).push(...fed[i]!);
    return {
      tokens: Int32Array.from(next),
      logprobs: new Float32Array(count).fill(-1),
      entropies: Float32Array.from(rows, (row) => this.#get(row).length),
      topIds: new Int32Array(count * top),
      topLogprobs: new Float32Array(count * top),
      support: new Uint32Array(0),
      supportLogprobs: new Float32Array(count),
    };
  }

  refresh(): void {
    this.refreshed++;
  }

  bytes(): number {
    return [...this.#rows.values()].flat().length;
  }

  dispose(): void {
    this.#rows.clear();
  }

  #get(row: number): number[] {
    const tokens = this.#rows.get(row);
    if (!tokens) throw new RangeError(`no sequence ${row}`);
    return tokens;
  }
}

/** The same decoder, with every step so many milliseconds later: a model that takes its time. */
export function slowed(decoder: ScriptedDecoder, delayMs: number): ScriptedDecoder {
  if (delayMs === 0) return decoder;
  const step = decoder.step.bind(decoder);
  const later = async (...args: Parameters<typeof step>) => {
    await new Promise((resolve) => setTimeout(resolve, delayMs)); // slow: a model
    return step(...args);
  };
  return Object.assign(decoder, { step: later }) as unknown as ScriptedDecoder;
}
