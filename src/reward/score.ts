/** What a reward says of one response: a number and why. */
export interface Score {
  score: number;
  /** In words, for a reader. */
  reason: string;
  /** The answer that was judged, where one was found. */
  answer?: string;
  /** Parts worth logging beside the score. */
  parts?: Record<string, number>;
  /** What each turn earned by itself, besides what its calls did: for turn-level credit. */
  turns?: readonly number[];
}

/** One response to judge, without its prompt. */
export interface Judged {
  response: string;
  /** The right answer, or several of which any one will do; a task may have none. */
  groundTruth?: string | readonly string[];
  dataSource?: string;
  /** Stripped once from the end of the response, as the reference does. */
  eosToken?: string;
  /** Whatever else the task holds. */
  extra?: Readonly<Record<string, unknown>>;
}

/** Refuses tasks without a right answer, where no reward was given that needs none. */
export function checkTruths(
  action: string,
  tasks: readonly { id?: string; groundTruth?: Judged["groundTruth"] }[],
): void {
  const at = tasks.findIndex(
    ({ groundTruth }) => groundTruth === undefined || groundTruth === null,
  );
  if (at < 0) return;
  throw new TypeError(
    `Cannot ${action}: a task must have a groundTruth unless a reward function is given, got neither for task ${tasks[at]!.id ?? at}; a reward is ({ response }) => number`,
  );
}

/** The answers a response is compared with; throws where the task has none. */
export function truthsOf({ groundTruth }: Judged): readonly string[] {
  if (groundTruth === undefined || groundTruth === null) {
    throw new TypeError("Cannot compare an answer: the task must have a groundTruth, got none");
  }
  return typeof groundTruth === "string" ? [groundTruth] : groundTruth;
}
