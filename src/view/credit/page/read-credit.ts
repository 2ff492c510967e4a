import { integersOf } from "../../page/unpack.js";
import type { CreditPayload, ShownSum } from "../payload.js";

/** A credit view as its page works with it. */
export interface PageCredit {
  payload: CreditPayload;
  /** What a trajectory's token says. */
  text: (row: number, token: number) => string;
  isTrained: (row: number, token: number) => boolean;
  /** The sum that a rule has for a trajectory's token; undefined where it gives nothing. */
  sumAt: (rule: number, row: number, token: number) => ShownSum | undefined;
  /** The advantage of a trajectory's token; NaN where the policy is not trained. */
  valueAt: (rule: number, row: number, token: number) => number;
}

export function readCredit(payload: CreditPayload): PageCredit {
  const tokens = integersOf(payload.tokens, payload.wide);
  const trained = integersOf(payload.trained, false);
  const place = (row: number, token: number) => payload.rows[row]!.start + token;
  const sumAt = (rule: number, row: number, token: number) => {
    const spans = payload.rules[rule]!.spans[row] ?? [];
    const span = spans.find(([start, end]) => start <= token && token < end);
    return span && payload.sums[span[2]];
  };
  const isTrained = (row: number, token: number) => trained[place(row, token)] === 1;
  return {
    payload,
    text: (row, token) => {
      const id = tokens[place(row, token)]!;
      return payload.vocabulary[id] ?? `#${id} `;
    },
    isTrained,
    sumAt,
    valueAt: (rule, row, token) =>
      isTrained(row, token) ? (sumAt(rule, row, token)?.value ?? 0) : NaN,
  };
}
