import {
  checkOptions,
  integer,
  optionsOf,
  required,
} from "../../../common/options/check-options.js";
import {
  type Corruption,
  corruptionRules,
  type TaskSet,
  type TaskSetOptions,
} from "../../tasks/tasks/task-set.js";
import { type Demonstration, demonstrate } from "../../tasks/tasks/demonstrate.js";
import type { Task } from "../../tasks/task.js";
import { type World, createWorld } from "../../tasks/tasks/world.js";
import { tasks } from "../../tasks/tasks/index.js";
import { Random } from "../../base/random/random.js";
import { demonstrationTools } from "../../tasks/task-tools.js";

type Family = keyof typeof tasks;

/** How many demonstrations of which families, over how many worlds. */
export interface WorldDemonstrations {
  /** How many of each family. */
  counts: Partial<Record<Family, number>>;
  seed: number;
  corruption?: Corruption;
  /** Worlds the facts come from; never the one that ships, whose answers must be searched for. */
  worlds?: number;
}

/** The tasks of one family about one world. Sums ask nothing of a world. */
const setOf = (family: Family, world: World, size: TaskSetOptions): TaskSet =>
  family === "calc" ? tasks.calc(size) : tasks[family]({ ...size, world });

/** Questions of one family about one world. */
function questions(family: Family, world: World, count: number, seed: number): Task[] {
  const most = { calc: count, mixed: count, lookup: 340, multihop: 110 }[family];
  return setOf(family, world, { seed, train: Math.min(count, most), test: 1 }).train;
}

/**
 * Demonstrations of the families over many invented worlds: the names are always the same, the facts
 * never, so that only searching and copying can be learned.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { worldDemonstrations } from "arpo-lab/experimental/learn";
 *
 * const [demonstration] = await worldDemonstrations({ counts: { calc: 1 }, seed: 1, worlds: 1 });
 * const text = demonstration.segments.map((segment) => segment.text).join("");
 * assert.match(text, /<python>[^]*<result>[^]*\\boxed\{-?\d+\}/);
 * ```
 */
export async function worldDemonstrations(options: WorldDemonstrations): Promise<Demonstration[]> {
  checkOptions("make demonstrations", options, {
    counts: "object",
    seed: required(integer(0)),
    corruption: optionsOf<Corruption>(corruptionRules),
    worlds: integer(1),
  });
  const { counts, seed, corruption = {}, worlds = 24 } = options;
  const random = Random.from(seed).split("demonstrations");
  const out: Demonstration[] = [];
  for (let w = 0; w < worlds; w++) {
    const world = createWorld(1 + w + 1000 * seed);
    const tools = demonstrationTools(world);
    for (const [name, total] of Object.entries(counts)) {
      const family = name as Family;
      const wanted = Math.floor(((w + 1) * total) / worlds) - Math.floor((w * total) / worlds);
      if (wanted === 0) continue;
      const { expert } = setOf(family, world, { seed, train: 1, test: 1 });
      const list = questions(family, world, wanted, seed * 1000 + w);
      for (let i = 0; i < wanted; i++) {
        const draws = random.split(family).split(w).split(i);
        const task = list[i % list.length]!;
        out.push(await demonstrate(task, expert, tools.run, { random: draws, corruption }));
      }
    }
    await tools.dispose();
  }
  return random.split("order").shuffle(out);
}
