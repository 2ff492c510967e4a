import type { PackedNumbers } from "../page/pack.js";

/** What is known of each token; in this order where a reader chooses. */
export type TokenQuantity = "push" | "weight" | "ratio" | "advantage" | "entropy";

/** The same tokens under one set of settings. */
export interface TokenPanel {
  name: string;
  quantities: Partial<Record<TokenQuantity, PackedNumbers>>;
  /** Places in `regions`, one per token. */
  region: string;
}

/** What a token view's page is given. */
export interface TokenPayload {
  /** In words, for each panel and for what differs. */
  summary: string[];
  /** What clipping can do to a token, by number; the last is "not trained". */
  regions: string[];
  vocabulary: string[];
  tokens: string;
  wide: boolean;
  rows: { label: string; start: number; length: number }[];
  panels: TokenPanel[];
  /** Tokens whose gradient weight is not the same in all panels. */
  differs: number[];
}
