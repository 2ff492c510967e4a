import { checkArguments } from "../../arguments/check-arguments.js";
import { type Task, environments, readTasks, tasks as generators } from "../../data/index.js";
import type { Config } from "../config/schema.js";
import { nearest } from "../../text/index.js";

const prefix = "tasks:";
const families = { ...generators, ...environments };

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

/**
 * The tasks a configuration names: files, or generators as `tasks:calc,lookup` with dials as in
 * `tasks:calc?digits=3`. Several families are dealt out in turn, so that every batch has some of each.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { loadConfig, tasksOf } from "arpo-lab/run";
 *
 * const { config } = await loadConfig();
 * const tasks = await tasksOf("tasks:calc?train=2&digits=1,lookup?train=2", "train", config);
 * assert.deepEqual(
 *   tasks.map(({ dataSource }) => dataSource),
 *   ["calc", "lookup", "calc", "lookup"],
 * );
 * ```
 */
export async function tasksOf(
  source: string | readonly string[],
  part: "train" | "test",
  config: Config,
): Promise<Task[]> {
  checkArguments("use the tasks", { config }, { config: { data: "object", lab: "object" } });
  if (typeof source !== "string" || !source.startsWith(prefix)) {
    const { prompt_key: promptKey, reward_fn_key: rewardKey } = config.data;
    return readTasks(source, { promptKey, rewardKey, repairBoxed: config.lab.repair_boxed });
  }
  const sets = source
    .slice(prefix.length)
    .split(",")
    .map((one) => {
      const { name, dials } = parse(one.trim());
      return families[name]({ seed: config.lab.seed, ...dials })[part];
    });
  const most = Math.max(...sets.map((set) => set.length));
  return Array.from({ length: most }, (_, i) => sets.flatMap((set) => set[i] ?? [])).flat();
}
