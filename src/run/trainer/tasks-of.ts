import { encodeParts, joined } from "../../model/tokenizer/special-tokens.js";
import { promptParts } from "../../policy/prompt.js";
import { utf8Length } from "#platform/bytes";
import { nearest } from "../../../common/options/nearest.js";
import { environments } from "../../tasks/environments/index.js";
import { naturalTasks } from "../../tasks/natural/index.js";
import { readTasks } from "../../tasks/read-tasks.js";
import type { Task } from "../../tasks/task.js";
import { tasks as generators } from "../../tasks/tasks/index.js";
import type { TaskSet, TaskSetOptions } from "../../tasks/tasks/task-set.js";
import { world, worldPages } from "../../tasks/tasks/world.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import type { Config } from "../config/schema.js";

const prefix = "tasks:";
const families = { ...generators, ...naturalTasks, ...environments };

/** The names of the generators that a source is made of; none where it is files. */
export function familiesIn(source: string | readonly string[]): string[] {
  if (typeof source !== "string" || !source.startsWith(prefix)) return [];
  return source
    .slice(prefix.length)
    .split(",")
    .map((one) => one.trim().split("?")[0]!);
}

/** `calc?digits=3` -> the generator's name and its dials. */
function parse(source: string): { name: keyof typeof families; dials: Record<string, number> } {
  const [name, query = ""] = source.split("?") as [string, string?];
  if (!Object.hasOwn(families, name)) {
    const near = nearest(name, Object.keys(families));
    throw new RangeError(
      `Cannot make tasks: the family must be one of ${Object.keys(families).join(", ")}, got ${name}${near ? `; did you mean ${near}?` : ""}`,
    );
  }
  const dials = Object.fromEntries(
    [...new URLSearchParams(query)].map(([key, value]) => [key, Number(value)]),
  );
  const bad = Object.entries(dials).find(([, value]) => !Number.isFinite(value));
  if (bad) throw new RangeError(`Cannot make tasks: ${bad[0]} must be a number, got ${source}`);
  return { name: name as keyof typeof families, dials };
}

const setsOf = (source: string, sizes: TaskSetOptions, seed?: number): TaskSet[] =>
  source
    .slice(prefix.length)
    .split(",")
    .map((one) => {
      const { name, dials } = parse(one.trim());
      return families[name]({ seed, ...dials, ...sizes });
    });

/**
 * The pages that the search of a configuration's families finds; undefined where those are the shipped
 * world's. Pages of one title that say different things would answer a question twice.
 */
export function pagesIn(config: Config): TaskSet["pages"] {
  const { train_files: train, val_files: validation } = config.data;
  const sets = [train, validation].flatMap((source) =>
    familiesIn(source).length > 0 ? setsOf(source as string, { train: 1, test: 1 }) : [],
  );
  const lists = sets.flatMap(({ tools, pages }) => (tools.includes("search") ? [pages] : []));
  if (lists.every((list) => list === undefined)) return undefined;
  const found = new Map<string, { title: string; text: string }>();
  for (const page of lists.flatMap((list) => list ?? worldPages(world))) {
    const known = found.get(page.title);
    if (known && known.text !== page.text) {
      throw new RangeError(
        `Cannot make the tools: the pages of all families must agree, got two for ${page.title}; give train and validation the same country`,
      );
    }
    found.set(page.title, page);
  }
  return [...found.values()];
}

/**
 * The tasks a configuration names: files, or generators as `tasks:calc,lookup` with dials as in
 * `tasks:calc?digits=3`. Several families are dealt out in turn, so that every batch has some of each.
 */
export async function tasksOf(
  source: string | readonly string[],
  part: "train" | "test",
  config: Config,
): Promise<Task[]> {
  if (typeof source !== "string" || !source.startsWith(prefix)) {
    const { prompt_key: promptKey, reward_fn_key: rewardKey } = config.data;
    return readTasks(source, { promptKey, rewardKey, repairBoxed: config.lab.repair_boxed });
  }
  const sets = setsOf(source, {}, config.lab.seed).map((set) => set[part]);
  const most = Math.max(...sets.map((set) => set.length));
  return Array.from({ length: most }, (_, i) => sets.flatMap((set) => set[i] ?? [])).flat();
}

/** A byte-level tokenizer never makes more tokens than bytes: short prompts need no counting. */
function promptTokens(task: Task, tokenizer: Tokenizer, enough: number): number {
  const parts = promptParts(task, tokenizer);
  return utf8Length(joined(parts)) <= enough ? 0 : encodeParts(tokenizer, parts).length;
}

/**
 * Applies `data.filter_overlong_prompts` and the `error` of `data.truncation` to a set's tasks, before
 * the first step rather than in the middle of a run. Cutting is left to the rollout.
 */
export function fitTasks(
  tasks: readonly Task[],
  tokenizer: Tokenizer,
  config: Pick<Config, "data">,
): { tasks: readonly Task[]; dropped: number } {
  const { data } = config;
  const { max_prompt_length: most, filter_overlong_prompts: filter, truncation } = data;
  if (!filter && truncation !== "error") return { tasks, dropped: 0 };
  const lengths = tasks.map((task) => promptTokens(task, tokenizer, most));
  if (filter) {
    const kept = tasks.filter((_, i) => lengths[i]! <= most);
    if (kept.length === 0 && tasks.length > 0) {
      throw new RangeError(
        `Cannot use the tasks: a prompt must have at most ${most} tokens (data.max_prompt_length), got ${Math.min(...lengths)} or more in all ${tasks.length}`,
      );
    }
    return { tasks: kept, dropped: tasks.length - kept.length };
  }
  const long = lengths.findIndex((length) => length > most);
  if (long >= 0) {
    throw new RangeError(
      `Cannot use task ${tasks[long]!.id}: its prompt must have at most ${most} tokens (data.max_prompt_length), got ${lengths[long]}; data.filter_overlong_prompts=true leaves such tasks out, data.truncation=left, right or middle cuts them`,
    );
  }
  return { tasks, dropped: 0 };
}
