/** A number in a sum: its name, its value, and how it came about where that is more than the number. */
export type SumPart = [name: string, value: number, from?: string];

/** The sum behind an advantage: all terms together, times every factor. */
export interface ShownSum {
  terms: SumPart[];
  factors: SumPart[];
  value: number;
}

/** A credit rule over the trajectories, or why it cannot be used on them. */
export interface ShownRule {
  name: string;
  /** What it does, in a few words. */
  meaning: string;
  /** For each trajectory the spans of its tokens: first, one past the last, and the place of the sum. */
  spans: [start: number, end: number, sum: number][][];
  missing?: string;
}

/** What the page of a credit view is given. */
export interface CreditPayload {
  /** In words, a line for each rule. */
  summary: string[];
  vocabulary: string[];
  /** Places in the vocabulary, or token numbers, of all trajectories one after another. */
  tokens: string;
  wide: boolean;
  /** 1 where the policy is trained. */
  trained: string;
  rows: { label: string; start: number; length: number; shared: number }[];
  rules: ShownRule[];
  sums: ShownSum[];
  /** The end of the colour scale: nearly all advantages are inside. */
  reach: number;
}
