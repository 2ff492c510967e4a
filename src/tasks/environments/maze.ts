import { checkArguments, shown } from "../../../common/options/check-arguments.js";
import { checkOptions, integer, type OptionRules } from "../../../common/options/check-options.js";
import type { Environment } from "../../environments/environment.js";
import { Random } from "../../base/random/random.js";
import type { ToolResult } from "../../tools/tool.js";
import {
  type Expert,
  fill,
  type TaskSet,
  type TaskSetOptions,
  taskSetRules,
} from "../tasks/task-set.js";

const directions = ["n", "e", "s", "w"] as const;
type Direction = (typeof directions)[number];

/** A direction by its letter or its word. */
function directionOf(text: string): Direction | undefined {
  const word = /^\s*(n|e|s|w|north|east|south|west)\s*$/i.exec(text)?.[1];
  return word === undefined ? undefined : (word[0]!.toLowerCase() as Direction);
}

/** A square maze: cells are numbered row by row. */
export interface MazePlan {
  size: number;
  start: number;
  exit: number;
  /** For each cell, the letters of the ways that are open. */
  open: string[];
}

/** The cell beside another; undefined beyond the edge. */
function beside(size: number, at: number, way: Direction): number | undefined {
  const [row, column] = [Math.floor(at / size), at % size];
  if (way === "n") return row > 0 ? at - size : undefined;
  if (way === "s") return row < size - 1 ? at + size : undefined;
  if (way === "w") return column > 0 ? at - 1 : undefined;
  return column < size - 1 ? at + 1 : undefined;
}

/** Where a way leads; undefined where it is not open. */
export const next = ({ size, open }: MazePlan, at: number, way: Direction): number | undefined =>
  open[at]!.includes(way) ? beside(size, at, way) : undefined;

/** The ways that are open at a cell. */
export const ways = (plan: MazePlan, at: number): Direction[] =>
  directions.filter((way) => next(plan, at, way) !== undefined);

/** `B2`: second column, second row. */
const nameOf = ({ size }: { size: number }, at: number): string =>
  `${String.fromCharCode(65 + (at % size))}${1 + Math.floor(at / size)}`;

const placeOf = ({ size }: { size: number }, name: string): number =>
  (Number(name.slice(1)) - 1) * size + name.charCodeAt(0) - 65;

/** The steps from every cell to one of them. */
export function distances(plan: MazePlan, to: number): number[] {
  const left = new Array<number>(plan.size ** 2).fill(Infinity);
  left[to] = 0;
  const queue = [to];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    for (const way of ways(plan, at)) {
      const cell = next(plan, at, way)!;
      if (left[cell] !== Infinity) continue;
      left[cell] = left[at]! + 1;
      queue.push(cell);
    }
  }
  return left;
}

/** A maze in which exactly one way leads from any cell to any other; the exit is the farthest cell. */
export function drawMaze(random: Random, size: number): MazePlan {
  const cells = Array.from({ length: size ** 2 }, (_, at) => at);
  const open = cells.map(() => "");
  // Walls fall in random order wherever there is no way round them yet (Kruskal).
  const region = [...cells];
  const walls = random.shuffle(
    cells.flatMap((at) => (["e", "s"] as const).map((way) => ({ at, way }))),
  );
  for (const { at, way } of walls) {
    const cell = beside(size, at, way);
    if (cell === undefined || region[cell] === region[at]) continue;
    const [kept, joined] = [region[at]!, region[cell]!];
    region.forEach((r, i) => {
      if (r === joined) region[i] = kept;
    });
    open[at] += way;
    open[cell] += way === "e" ? "w" : "n";
  }
  const start = random.integer(size ** 2);
  const plan: MazePlan = {
    size,
    start,
    exit: start,
    open: open.map((o) => [...o].sort().join("")),
  };
  const left = distances(plan, start);
  plan.exit = left.indexOf(Math.max(...left));
  return plan;
}

interface MazeOptions extends TaskSetOptions {
  /** Cells on a side of the largest mazes, from 2 to 6; smaller ones are among them. Default 3. */
  size?: number;
}

/**
 * A maze to be left by going from cell to cell. The trajectory ends at the exit; a step nearer to it earns its
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
  const best = open.reduce((a, b) =>
    left[next(plan, at, b)!]! < left[next(plan, at, a)!]! ? b : a,
  );
  const others = open.filter((way) => way !== best);
  const way =
    others.length === 0 ? best : choose<Direction>(best, (random) => random.choose(others));
  return { text: `<go>${way}</go>`, call: { tag: "go", input: way } };
};

/** Mazes with one way to the exit, of two cells on a side up to `size`: the longer the way, the harder. */
export function maze(options: MazeOptions = {}): TaskSet {
  checkOptions("make tasks", options, {
    ...taskSetRules,
    size: integer(2),
  } satisfies OptionRules<MazeOptions>);
  const { seed = 1, size = 3 } = options;
  // There are only sixteen mazes of four cells.
  const [train, test] = [
    options.train ?? (size === 2 ? 8 : 256),
    options.test ?? (size === 2 ? 8 : 64),
  ];
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
