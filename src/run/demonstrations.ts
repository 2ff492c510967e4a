import {
  checkOptions,
  integer,
  optionsOf,
  type OptionRules,
} from "../../common/options/check-options.js";
import { shown } from "../../common/options/check-arguments.js";
import { demonstrate, type Demonstration } from "../tasks/tasks/demonstrate.js";
import { tasks as families } from "../tasks/tasks/index.js";
import { type Corruption, corruptionRules, type TaskSet } from "../tasks/tasks/task-set.js";
import type { Task } from "../tasks/task.js";
import { world } from "../tasks/tasks/world.js";
import { demonstrationTools } from "../tasks/task-tools.js";
import { Random } from "../base/random/random.js";

/** How many demonstrations, and of what kind. */
export interface DemonstrationOptions {
  /** Default: one per task; with more, tasks are demonstrated again. */
  count?: number;
  /** Default: 1. */
  seed?: number;
  /** How often the expert errs on purpose. Default: never. */
  corruption?: Corruption;
}

const rules: OptionRules<DemonstrationOptions> = {
  count: integer(0),
  seed: integer(0),
  corruption: optionsOf<Corruption>(corruptionRules),
};

type Experts = Pick<TaskSet, "expert" | "environment" | "pages">;

/** The set that a list's tasks are of: the first one's family. */
function familyOf(list: readonly Task[]): Experts {
  const [first] = list;
  const name = first?.dataSource;
  if (name !== undefined && Object.hasOwn(families, name)) {
    return families[name as keyof typeof families]({ train: 1, test: 1 });
  }
  throw new TypeError(
    `Cannot make demonstrations: tasks must be a set with an expert, or a list of one family's tasks (${Object.keys(families).join(", ")}), got ${name === undefined ? "an empty list" : `tasks of ${shown(name)}`}`,
  );
}

/**
 * Lets the expert of a family solve tasks with real tools: what `fineTune` learns from.
 *
 * @param tasks a family of tasks, or some of its tasks
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { demonstrations, tasks } from "arpo-lab";
 *
 * const set = tasks.calc({ train: 8, test: 1 });
 * const [first] = await demonstrations(set, { count: 2 });
 * assert.match(first.segments.map(({ text }) => text).join(""), /<python>[^]*<result>[^]*\\boxed\{-?\d+\}/);
 * ```
 */
export async function demonstrations(
  tasks: TaskSet | readonly Task[],
  options: DemonstrationOptions = {},
): Promise<Demonstration[]> {
  const action = "make demonstrations";
  checkOptions(action, options, rules);
  if (typeof tasks !== "object" || tasks === null || !("train" in tasks || Array.isArray(tasks))) {
    throw new TypeError(
      `Cannot ${action}: tasks must be a set of tasks (tasks.calc()) or a list of tasks, got ${shown(tasks)}`,
    );
  }
  const list = "train" in tasks ? tasks.train : tasks;
  const set = "train" in tasks ? tasks : familyOf(tasks);
  const { count = list.length, seed = 1, corruption } = options;
  const random = Random.from(seed).split("demonstrations");
  const tools = demonstrationTools(set.pages ? { pages: set.pages } : world);
  const made: Demonstration[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const task = list[i % list.length]!;
      const own = { random: random.split(i), corruption };
      made.push(
        await (set.environment
          ? (await import("../tasks/environments/demonstrate-in.js")).demonstrateIn(set, task, own)
          : demonstrate(task, set.expert, tools.run, own)),
      );
    }
  } finally {
    await tools.dispose();
  }
  return made;
}
