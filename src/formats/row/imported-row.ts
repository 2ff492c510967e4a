import type { ChatMessage, TextPart } from "../../model/tokenizer/tokenizer.js";
import type { Support } from "../../policy/token-sets.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Score } from "../../reward/score.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";

/** One number per token; null where the file has none for it. */
export type TokenNumbers = readonly (number | null)[];

/** A tool call and its answer. */
export interface ToolCall {
  tag: string;
  input: string;
  answer: string;
}

/** A span of a response that one side wrote: the model, or whatever answered it. */
export interface ImportedPart {
  by: "model" | "tool";
  /** Absent where the file has ids only. */
  text?: string;
  /** The text in parts, where it is not plain: special tokens are a template's own there. */
  laid?: readonly TextPart[];
  /** Ids, where the file has them; the numbers below go with them, one each. */
  tokens?: readonly number[];
  /** The texts of its tokens, where the file has these instead of ids. */
  pieces?: readonly string[];
  logprobs?: TokenNumbers;
  entropies?: TokenNumbers;
  advantages?: TokenNumbers;
  /** What each of them was sampled from, where it is not the whole vocabulary. */
  support?: Support;
  /** What a tool was asked, and its answer without what a template puts around it. */
  call?: ToolCall;
}

/** Where a trajectory was read. */
interface RowPlace {
  file: string;
  /** Of a table, the row's number; both count from 1. */
  line: number;
}

/** One response to one prompt, as any format tells it. */
export interface ImportedRow {
  /** Text that is taken as it is, or a chat that a template lays out. */
  prompt: string | readonly ChatMessage[];
  /** Ids of the prompt, where the file has them. */
  promptTokens?: readonly number[];
  /** The response in order. Where it is a chat, `messages` says it and this is empty. */
  parts: readonly ImportedPart[];
  /** The response as a chat: laid out by a template when the tree is made. */
  messages?: readonly ChatMessage[];
  /** What trajectories of one prompt have in common besides the prompt: a task, a group, an agent. */
  group?: string;
  step?: number;
  score?: number;
  /** Parts of the score, and other numbers the file tells of the trajectory. */
  numbers?: Readonly<Record<string, number>>;
  /** One advantage for all its tokens. */
  advantage?: number;
  groundTruth?: string | readonly string[];
  end?: TrajectoryEnd;
  /** The model that wrote it. */
  model?: string;
  /** How many updates its policy had been through; of several the oldest. */
  version?: number;
  /** Whatever else the file says of it. */
  extra?: Readonly<Record<string, unknown>>;
}

/** A trajectory and where it stands. */
export interface PlacedRow extends ImportedRow {
  place: RowPlace;
}

/** What a record of a file says. */
export interface Understood {
  rows?: readonly ImportedRow[];
  /** Trees as this package writes them. */
  trees?: readonly RolloutTree[];
  /** Of each the scores of its trajectories, where the file has them. */
  scores?: readonly (readonly (Score | undefined)[])[];
  /** Rollouts of which only these numbers are known. */
  counted?: readonly Pick<ImportedRow, "step" | "score" | "numbers">[];
}
