import { integer, type OptionRules, share } from "../../../common/options/check-options.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { Random } from "../../base/random/random.js";
import type { Task } from "../task.js";

/** How often an expert errs on purpose, so that reinforcement learning has something to fix. */
export interface Corruption {
  /** Share of decisions (whom to ask for, which number to copy, what to compute) that go wrong. */
  decisions?: number;
  /** Share of demonstrations whose format is broken. */
  format?: number;
}

export const corruptionRules: OptionRules<Corruption> = { decisions: share, format: share };

/** What an expert says next: text that ends in a tool call or in the answer. */
interface ExpertStep {
  text: string;
  /** The call that the text ends with; without one the text is the last. */
  call?: { tag: string; input: string };
}

/**
 * Solves tasks of one family step by step, seeing each tool result before it continues.
 * @param task the task to solve
 * @param results the tool results so far
 * @param choose gives the right choice or, as often as the corruption says, a wrong one
 */
export type Expert = (task: Task, results: readonly string[], choose: Decide) => ExpertStep;

/** Gives the right choice or, as often as the corruption says, a wrong one. */
export type Decide = <T>(right: T, wrong: (random: Random) => T) => T;

/** A family of tasks with an expert that demonstrates them. */
export interface TaskSet {
  name: string;
  train: Task[];
  /** Held out: no question of `train` is in it. */
  test: Task[];
  /** Tags of the tools its tasks need. */
  tools: readonly ("python" | "search")[];
  expert: Expert;
  /** The world its tasks are acted out in, where they are. */
  environment?: EnvironmentSource;
  /** What its search finds, where that is not the world that ships. */
  pages?: readonly { title: string; text: string }[];
}

export interface TaskSetOptions {
  /** The same seed gives the same tasks. Default: 1. */
  seed?: number;
  /** How many training tasks. Default: the family's own. */
  train?: number;
  /** How many held-out tasks. Default: the family's own. */
  test?: number;
}

export const taskSetRules: OptionRules<TaskSetOptions> = {
  seed: integer(0),
  train: integer(0),
  test: integer(0),
};

/** A task of a generator: one user message, one answer. */
function makeTask(
  family: string,
  id: string,
  question: string,
  groundTruth: string,
  extra: Record<string, unknown>,
  prompt: Task["prompt"] = [{ role: "user", content: question }],
): Task {
  return {
    id,
    prompt,
    groundTruth,
    dataSource: family,
    ability: family,
    extra,
  };
}

/**
 * Makes distinct tasks until both parts are full. A question's place depends on the seed alone, so
 * asking for more of one part never moves a question from the other.
 */
export function fill(
  family: string,
  random: Random,
  sizes: { train: number; test: number },
  make: (
    random: Random,
    part: "train" | "test",
  ) => {
    question: string;
    answer: string;
    /** Default: the question alone. */
    prompt?: Task["prompt"];
    extra: Record<string, unknown>;
    /** What makes it another task than one of the same question. Default: the question. */
    key?: string;
  },
): { train: Task[]; test: Task[] } {
  const seen = new Set<string>();
  const part = (name: "test" | "train", size: number): Task[] => {
    const stream = random.split(name);
    const tasks: Task[] = [];
    for (let tries = 0; tasks.length < size; tries++) {
      if (tries > 200 * size + 2000) {
        throw new RangeError(
          `Cannot make ${family} tasks: ${size} distinct ${name} questions must exist, got ${tasks.length}`,
        );
      }
      const { question, answer, extra, prompt, key = question } = make(stream.split(tries), name);
      if (seen.has(key)) continue;
      seen.add(key);
      tasks.push(
        makeTask(family, `${family}-${name}-${tasks.length}`, question, answer, extra, prompt),
      );
    }
    return tasks;
  };
  const test = part("test", sizes.test);
  return { train: part("train", sizes.train), test };
}
