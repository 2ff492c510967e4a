import type { Rows } from "../advantage/masked.js";

/** A number that goes into an advantage. */
export interface CreditTerm {
  name: string;
  value: number;
  /** How it came about, in numbers. */
  from?: string;
}

/** What made an advantage: the sum of the terms, times every factor. */
export interface CreditSum {
  terms: readonly CreditTerm[];
  factors: readonly CreditTerm[];
}

/** Tokens of a row that got their advantage by one sum, from `start` up to but without `end`. */
export interface CreditSpan {
  start: number;
  end: number;
  sum: CreditSum;
}

/** The advantage that a sum gives. */
export function total({ terms, factors }: CreditSum): number {
  const sum = terms.reduce((all, { value }) => all + value, 0);
  return factors.reduce((all, { value }) => all * value, sum);
}

/** Advantages per row and token, with the sum behind each. */
export class Credit {
  readonly advantages: Float64Array[];

  constructor(
    /** One list per row, in order of tokens; tokens between spans have no credit. */
    readonly spans: readonly (readonly CreditSpan[])[],
    mask: Rows,
  ) {
    this.advantages = spans.map((list, row) => {
      const own = mask[row]!;
      const out = new Float64Array(own.length);
      for (const { start, end, sum } of list) {
        const value = total(sum);
        const stop = Math.min(end, own.length);
        for (let t = start; t < stop; t++) out[t] = value * own[t]!;
      }
      return out;
    });
  }

  /** The sum behind a token's advantage; undefined where it has none. */
  explain(row: number, token: number): CreditSum | undefined {
    return this.spans[row]?.find(({ start, end }) => start <= token && token < end)?.sum;
  }
}

/** A whole row under one sum. */
export function wholeRow(mask: Rows, row: number, sum: CreditSum): CreditSpan[] {
  return [{ start: 0, end: mask[row]!.length, sum }];
}

/** A number as it stands in a sum that is shown. */
export const short = (value: number): string => String(Number(value.toPrecision(4)));
