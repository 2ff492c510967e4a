import { defined } from "../../common/options/defined.js";
import { checkArguments } from "../../common/options/check-arguments.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";
import { chatIn, type PromptTask, rawText } from "../policy/prompt.js";
import type {
  TrajectoryEnd,
  TrajectoryKind,
  TrajectoryOutcome,
} from "../rollout/tree/tree-values.js";
import type { Judged } from "./score.js";

/** A tool call as a reward sees it. */
export interface JudgedCall {
  tag: string;
  input: string;
  text: string;
  /** The tool did its work; a failure is the infrastructure's, not the model's. */
  ok: boolean;
  /** What the call itself earned, where its tool or environment said so. */
  reward?: number;
}

/** What the policy was asked, as a reward sees it. */
interface JudgedPrompt {
  /** As the policy read it, laid out by its template. */
  text: string;
  /** The chat it was made of; empty where the task's prompt is text. */
  messages: readonly ChatMessage[];
  /** The bare question: the last thing the user said, or the prompt's text. */
  question: string;
}

/** The tree a trajectory comes from, and its place there. */
interface JudgedTree {
  /** Names the task: trajectories of one task share it. */
  group: string;
  /** The prompt's place in its batch. */
  index: number;
  trajectory: number;
  /** Trajectories of the tree. */
  trajectories: number;
  /** How the trajectory began, and why it ended. */
  kind: TrajectoryKind;
  end: TrajectoryEnd;
  /** Name of the policy. */
  policy: string;
  seed: number;
  /** The longest response it could have been, in tokens. */
  responseLength: number;
}

/** A whole trajectory to judge: what a reward is given. */
export interface JudgedTrajectory extends Judged {
  /** The whole response, answers of tools included; absent where `response` is all there is. */
  transcript?: string;
  prompt: JudgedPrompt;
  toolCalls: readonly JudgedCall[];
  /** Tokens of the response. */
  length: number;
  tree: JudgedTree;
  /** What the environment said when the trajectory had ended; absent without one. */
  outcome?: TrajectoryOutcome;
}

/** The prompt of a task as a reward sees it; `read` is what the policy read. */
export function judgedPrompt(task: PromptTask, read?: string): JudgedPrompt {
  const messages = chatIn(task);
  if (!messages) {
    const text = rawText(task);
    return { text: read ?? text, messages: [], question: text };
  }
  const asked = messages.findLast(({ role }) => role === "user");
  const text = read ?? messages.map(({ content }) => content).join("\n");
  return { text, messages, question: asked?.content ?? "" };
}

/**
 * A trajectory made by hand, to try a reward on: what is not said is as a short answer without tools has
 * it.
 *
 * @param given the response and what else the reward reads
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { judgedTrajectory, type JudgedTrajectory } from "arpo-lab/learn";
 *
 * const polite = ({ prompt, response }: JudgedTrajectory) =>
 *   Number(!prompt.question.includes("please") || response.includes("gladly"));
 * assert.equal(polite(judgedTrajectory({ prompt: "2+2, please?", response: "Gladly: 4" })), 0);
 * assert.equal(polite(judgedTrajectory({ prompt: "2+2?", response: "4" })), 1);
 * ```
 */
export function judgedTrajectory(
  given: Partial<Omit<JudgedTrajectory, "prompt" | "tree">> & {
    response: string;
    prompt?: string | readonly ChatMessage[];
    tree?: Partial<JudgedTree>;
  },
): JudgedTrajectory {
  checkArguments("judge a trajectory", { given }, { given: { response: "text", tree: "object?" } });
  const { prompt = "", tree, ...rest } = given;
  return {
    toolCalls: [],
    length: given.response.length,
    ...defined(rest),
    prompt: judgedPrompt({ prompt }),
    tree: {
      ...{ group: "0", index: 0, trajectory: 0, trajectories: 1, kind: "initial", end: "answer" },
      ...{ policy: "", seed: 0, responseLength: 4096 },
      ...defined({ ...tree }),
    },
  };
}
