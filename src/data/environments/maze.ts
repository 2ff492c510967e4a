import { checkOptions, integer, type OptionRules } from "../../arguments/check-options.js";
import { checkArguments } from "../../arguments/check-arguments.js";
import { shown } from "../../arguments/shown.js";
import type { Environment } from "../../environment/environment.js";
import { Random } from "../../random/random.js";
import type { ToolResult } from "../../tools/tool.js";
import { type Expert, type TaskSet, type TaskSetOptions, fill, taskSetRules } from "../tasks/task-set.js";
import {
  type Direction,
  directionOf,
  distances,
  drawMaze,
  type MazePlan,
  nameOf,
  next,
  placeOf,
  ways,
} from "./maze-plan.js";

export interface MazeOptions extends TaskSetOptions {
  /** Cells on a side of the largest mazes, from 2 to 6; smaller ones are among them. Default 3. */
  size?: number;
}

/**
 * A maze to be left by going from cell to cell. The row ends at the exit; a step nearer to it earns its
 * share of the way, a step back loses it.
 */
export class Maze implements Environment {
  readonly tools = { go: "Goes to the next cell: n, e, s or w." };
  #plan: MazePlan | undefined;
  #left: readonly number[] = [];
  #at = 0;
  #steps = 0;

  reset(task: unknown): string {
    const { plan } = ((task as { extra?: unknown } | null)?.extra ?? {}) as { plan?: MazePlan };
    if (!Array.isArray(plan?.open)) {
      throw new TypeError(`Cannot reset a maze: the task must hold a plan, got ${shown(task)}`);
    }
    this.#plan = plan;
    this.#left = distances(plan, plan.exit);
    this.#at = plan.start;
    this.#steps = 0;
    return this.#seen();
  }

  go(input: string): ToolResult {
    checkArguments("go", { input }, { input: "text" });
    const way = directionOf(input);
    if (!way) return { text: "Go n, e, s or w.", ok: true, reward: 0 };
    const to = next(this.#told(), this.#at, way);
    this.#steps++;
    if (to === undefined) return { text: `No way. ${this.#seen()}`, ok: true, reward: 0 };
    const nearer = this.#left[this.#at]! - this.#left[to]!;
    this.#at = to;
    return {
      text: this.done ? "Out." : this.#seen(),
      ok: true,
      reward: nearer / this.#left[this.#told().start]!,
    };
  }

  get done(): boolean {
    return this.#plan !== undefined && this.#at === this.#plan.exit;
  }

  reward() {
    const best = this.#left[this.#told().start]!;
    const reason = this.done
      ? `out after ${this.#steps} steps, ${best} at best`
      : `${this.#left[this.#at]} cells from the exit`;
    return { score: Number(this.done), reason, parts: { steps: this.#steps } };
  }

  clone(): Maze {
    const copy = new Maze();
    copy.#plan = this.#plan;
    copy.#left = this.#left;
    copy.#at = this.#at;
    copy.#steps = this.#steps;
    return copy;
  }

  #told(): MazePlan {
    if (this.#plan) return this.#plan;
    throw new Error("Cannot walk in a maze: it must have been reset, got a new one");
  }

  #seen(): string {
    const plan = this.#told();
    return `At ${nameOf(plan, this.#at)}: ${ways(plan, this.#at).join(" ")}`;
  }
}

/** Goes the shortest way from where the last result says; now and then another that is open. */
const expert: Expert = (task, results, choose) => {
  const { plan } = task.extra as unknown as { plan: MazePlan };
  const cell = results.findLast((text) => /At /.test(text))?.match(/At (\w\d):/)?.[1];
  const at = cell === undefined ? plan.start : placeOf(plan, cell);
  const left = distances(plan, plan.exit);
  const open = ways(plan, at);
  const best = open.reduce((a, b) => (left[next(plan, at, b)!]! < left[next(plan, at, a)!]! ? b : a));
  const others = open.filter((way) => way !== best);
  const way = others.length === 0 ? best : choose<Direction>(best, (random) => random.choose(others));
  return { text: `<go>${way}</go>`, call: { tag: "go", input: way } };
};

/** Mazes with one way to the exit, of two cells on a side up to `size`: the longer the way, the harder. */
export function maze(options: MazeOptions = {}): TaskSet {
  checkOptions("make tasks", options, { ...taskSetRules, size: integer(2) } satisfies OptionRules<MazeOptions>);
  const { seed = 1, size = 3 } = options;
  // There are only sixteen mazes of four cells.
  const [train, test] = [options.train ?? (size === 2 ? 8 : 256), options.test ?? (size === 2 ? 8 : 64)];
  if (!(Number.isInteger(size) && size >= 2 && size <= 6)) {
    throw new RangeError(`Cannot make mazes: size must be from 2 to 6, got ${shown(size)}`);
  }
  const parts = fill("maze", Random.from(seed).split("maze"), { train, test }, (random) => {
    const plan = drawMaze(random, size === 2 ? 2 : 2 + random.integer(size - 1));
    return {
      question: `Leave the maze by ${nameOf(plan, plan.exit)}.`,
      answer: "out",
      extra: { plan, size: plan.size, way: distances(plan, plan.exit)[plan.start] },
      key: JSON.stringify(plan),
    };
  });
  return { name: "maze", ...parts, tools: [], expert, environment: Maze };
}
