import { shown } from "../../common/options/check-arguments.js";
import {
  type AuthoredText,
  readTranscript,
  withOwnMarksOut,
  withoutAnswers,
} from "../base/text/authored-text.js";

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
  /**
   * What the model wrote. An empty result block stands for each answer of a tool. Where `parts` is absent, answers
   * may stand in their blocks: what the built-in rewards read leaves them out.
   */
  response: string;
  /** Who wrote what; of a tree's trajectories always there. */
  parts?: readonly AuthoredText[];
  /** Read the whole transcript, whoever wrote it, as the reference does: see `reference`. */
  asReference?: boolean;
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
  const odd = tasks.find(({ groundTruth }) => !isTruth(groundTruth ?? ""));
  if (odd) throw oddTruth(`${action} task ${odd.id ?? tasks.indexOf(odd)}`, odd.groundTruth);
  if (at < 0) return;
  throw new TypeError(
    `Cannot ${action}: a task must have a groundTruth unless a reward function is given, got neither for task ${tasks[at]!.id ?? at}; a reward is ({ response }) => number`,
  );
}

const isTruth = (given: unknown): given is string | readonly string[] =>
  typeof given === "string" ||
  (Array.isArray(given) && given.every((one) => typeof one === "string"));

/** A right answer that is a number, for instance: answers are compared as they are written. */
const oddTruth = (action: string, given: unknown) =>
  new TypeError(
    `Cannot ${action}: groundTruth must be text or a list of texts, got ${shown(given)}${typeof given === "number" ? `; write "${given}"` : ""}`,
  );

/** The answers a response is compared with; throws where the task has none. */
export function truthsOf({ groundTruth }: Judged): readonly string[] {
  if (groundTruth === undefined || groundTruth === null) {
    throw new TypeError("Cannot compare an answer: the task must have a groundTruth, got none");
  }
  if (!isTruth(groundTruth)) throw oddTruth("compare an answer", groundTruth);
  return typeof groundTruth === "string" ? [groundTruth] : groundTruth;
}

/** The response as rewards read it: without what others wrote. */
export function responseOf({ response, parts, asReference = false }: Judged): string {
  return asReference ? response : withoutAnswers(parts ?? readTranscript(response));
}

/** The response for checks of the format, and whether it calls a tool. */
export function formatOf(judged: Judged & { toolCalls?: readonly { tag: string }[] }): {
  text: string;
  calls: (tag: string) => boolean;
} {
  const { parts, asReference = false, toolCalls } = judged;
  // Who wrote what is known: results and calls are real ones, whatever the model's text looks like.
  if (parts && toolCalls && !asReference) {
    const tags = new Set(toolCalls.map(({ tag }) => tag));
    return { text: withOwnMarksOut(parts), calls: (tag) => tags.has(tag) };
  }
  const text = responseOf(judged);
  return { text, calls: (tag) => text.includes(`</${tag}>`) };
}
