import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, finite, type OptionRules } from "../../../common/options/check-options.js";
import { encodeParts } from "../../model/tokenizer/special-tokens.js";
import type { ChatMessage } from "../../model/tokenizer/tokenizer.js";
import { promptParts } from "../../policy/prompt.js";
import type { ScoredTrajectory } from "../../reward/scored.js";
import type { PrivilegedTeacher } from "./teacher.js";

/** A prompt as a task has it. */
type Prompt = string | readonly ChatMessage[];

/** A trajectory among those of its prompt. */
export interface SiblingRow {
  prompt: Prompt;
  group: string | number;
  completion: string;
  reward: number;
  /** What somebody said of it, a test or an environment. */
  feedback?: string | undefined;
}

export interface SiblingOptions {
  /** The score from which on a trajectory is one to learn from. Default: 1. */
  threshold?: number;
  /** A trajectory may be its own example. Default: false. */
  oneself?: boolean;
  /** Say what was said of the trajectory beside a right sibling too. Default: true. */
  feedbackBeside?: boolean;
  /** Leave what stands in `<think>` out of the example. Default: false. */
  dropThinking?: boolean;
}

const siblingRules: OptionRules<SiblingOptions> = {
  threshold: finite,
  oneself: "boolean?",
  feedbackBeside: "boolean?",
  dropThinking: "boolean?",
};

const withoutThinking = (text: string) => text.replace(/<think>[^]*?<\/think>/g, "").trim();

/** The prompt with something behind what the user said last. */
function asked(prompt: Prompt, of: (said: string) => string): Prompt {
  if (typeof prompt === "string") return of(prompt);
  const last = prompt.at(-1);
  if (last?.role !== "user") {
    throw new RangeError(
      `Cannot ask behind a prompt: its last message must be of the role user, got ${last?.role ?? "none"}`,
    );
  }
  return [...prompt.slice(0, -1), { ...last, content: of(last.content) }];
}

/** What each trajectory has to learn from: a right sibling, and what was said of it. */
function lookAround(rows: readonly SiblingRow[], options: SiblingOptions) {
  const { threshold = 1, oneself = false, feedbackBeside = true } = options;
  return rows.map((row, i) => {
    const right = rows.find(
      (other, j) => other.group === row.group && other.reward >= threshold && (oneself || j !== i),
    );
    const said = isSaid(row) && (feedbackBeside || !right);
    return { right, said };
  });
}

const isSaid = ({ feedback = "" }: SiblingRow) => feedback.trim() !== "";

/** Shares of prompts and trajectories that have a right trajectory, feedback and a teacher, under TRL's names. */
export function siblingFigures(
  rows: readonly SiblingRow[],
  options: SiblingOptions = {},
): Record<string, number> {
  checkArguments("ask siblings", { rows }, { rows: "list" });
  checkOptions("ask siblings", options, siblingRules);
  const { threshold = 1 } = options;
  const found = lookAround(rows, options);
  const groups = (of: readonly SiblingRow[]) => new Set(of.map(({ group }) => group)).size;
  const share = (count: number) => count / Math.max(1, rows.length);
  const count = (of: (i: number) => boolean) => rows.filter((_, i) => of(i)).length;
  const solved = groups(rows.filter(({ reward }) => reward >= threshold));
  return {
    "self_distillation/success_group_fraction": solved / Math.max(1, groups(rows)),
    "self_distillation/success_sample_fraction": share(count((i) => !!found[i]!.right)),
    "self_distillation/feedback_available_fraction": share(count((i) => isSaid(rows[i]!))),
    "self_distillation/feedback_used_fraction": share(count((i) => found[i]!.said)),
    "self_distillation/reprompt_sample_fraction": share(
      count((i) => found[i]!.said || !!found[i]!.right),
    ),
  };
}

/**
 * What the policy is asked as its own teacher, for each trajectory: its prompt with the first right trajectory of the
 * same prompt, and what was said of its own (SDPO). Undefined where there is neither.
 */
export function siblingPrompts(
  rows: readonly SiblingRow[],
  options: SiblingOptions = {},
): (Prompt | undefined)[] {
  checkArguments("ask siblings", { rows }, { rows: "list" });
  checkOptions("ask siblings", options, siblingRules);
  const { dropThinking = false } = options;
  const found = lookAround(rows, options);
  return rows.map((row, i) => {
    const { right, said } = found[i]!;
    if (!right && !said) return undefined;
    const example = right && (dropThinking ? withoutThinking(right.completion) : right.completion);
    const solution = example === undefined ? "" : `\nCorrect solution:\n\n${example}\n\n`;
    const feedback = said
      ? `\nThe following is feedback from your unsuccessful earlier attempt:\n\n${row.feedback}\n\n`
      : "";
    return asked(
      row.prompt,
      (text) => `${text}${solution}${feedback}\n\nCorrectly solve the original question.\n`,
    );
  });
}

/** How the policy learns from its own right trajectories. */
export interface RightSiblingOptions extends SiblingOptions, Pick<PrivilegedTeacher, "policy"> {
  /** What was said of a trajectory; blank text says nothing. Default: nothing. */
  feedback?: (one: ScoredTrajectory) => string | undefined;
}

/**
 * A teacher that is the policy itself with a right trajectory of the same prompt before it: `update(policy, batch,
 * { teacher: rightSibling() })`. A prompt that no trajectory solved teaches nothing.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rightSibling } from "arpo-lab/experimental/learn";
 *
 * assert.equal(typeof rightSibling({ threshold: 0.5 }).prompts, "function");
 * ```
 */
export function rightSibling(given: RightSiblingOptions = {}): PrivilegedTeacher {
  checkOptions("ask siblings", given, {
    ...siblingRules,
    policy: "object?",
    feedback: "function?",
  } as OptionRules<RightSiblingOptions>);
  const { policy, feedback, ...options } = given;
  return {
    ...(policy && { policy }),
    prompts(sequences, scored) {
      if (!scored) {
        throw new TypeError(
          "Cannot ask siblings: the batch must say what it was scored from, got none; advantages(scored) makes one that does",
        );
      }
      const rows = scored.trajectories.map((one): SiblingRow => {
        const { trajectory, group, score } = one;
        const tree = scored.trees.find(({ index }) => index === trajectory.tree)!;
        const { prompt } = tree.task as { prompt: Prompt };
        return {
          ...{ prompt, group, completion: trajectory.text, reward: score.score },
          feedback: feedback?.(one),
        };
      });
      const found = siblingPrompts(rows, options);
      const places = new Map(scored.trajectories.map(({ trajectory }, i) => [trajectory, i]));
      return sequences.map(({ trajectory }) => {
        const prompt = found[places.get(trajectory) ?? -1];
        if (prompt === undefined) return undefined;
        const { tokenizer } = scored.trees.find(({ index }) => index === trajectory.tree)!;
        if (!tokenizer) {
          throw new TypeError("Cannot ask siblings: the trees must have a tokenizer, got none");
        }
        return encodeParts(tokenizer, promptParts({ prompt }, tokenizer));
      });
    },
  };
}
