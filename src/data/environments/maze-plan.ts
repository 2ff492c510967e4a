import type { Random } from "../../random/random.js";

const directions = ["n", "e", "s", "w"] as const;
export type Direction = (typeof directions)[number];

/** A direction by its letter or its word. */
export function directionOf(text: string): Direction | undefined {
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
export const nameOf = ({ size }: { size: number }, at: number): string =>
  `${String.fromCharCode(65 + (at % size))}${1 + Math.floor(at / size)}`;

export const placeOf = ({ size }: { size: number }, name: string): number =>
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
  const walls = random.shuffle(cells.flatMap((at) => (["e", "s"] as const).map((way) => ({ at, way }))));
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
  const plan: MazePlan = { size, start, exit: start, open: open.map((o) => [...o].sort().join("")) };
  const left = distances(plan, start);
  plan.exit = left.indexOf(Math.max(...left));
  return plan;
}
