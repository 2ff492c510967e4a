/** What a reward says of one response: a number and why. */
export interface Score {
  score: number;
  /** In words, for a reader. */
  reason: string;
  /** The answer that was judged, where one was found. */
  answer?: string;
  /** Parts worth logging beside the score. */
  parts?: Record<string, number>;
}

/** One response to judge, without its prompt. */
export interface Judged {
  response: string;
  groundTruth: string | readonly string[];
  dataSource?: string;
  /** Stripped once from the end of the response, as the reference does. */
  eosToken?: string;
  extra?: Readonly<Record<string, unknown>>;
}
