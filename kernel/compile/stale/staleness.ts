import type { CellState, NotebookCell, StaleAnswer, StaleReason } from "../../contract/stale.js";

// The rule by which a cell is stale, and the order in which stale cells run. It sees texts and names, never
// values: what changes inside a value (a push, a property) is no newer version of its name.

/** What a run of a cell did with the names of the session. */
export interface CellRun {
  /** The front end's name of the cell; undefined where it gave none. */
  cell: string | undefined;
  source: string;
  /** Names of the session that the cell's code reads. */
  read: Iterable<string>;
  declared: readonly string[];
  assigned: readonly string[];
}

interface Name {
  version: number;
  /** The cells that last declared it and that last gave it a value. */
  declarer?: string | undefined;
  maker?: string | undefined;
}

interface Run {
  source: string;
  made: ReadonlySet<string>;
  /** The version of each name that was read. */
  read: ReadonlyMap<string, number>;
}

type Plan = Pick<StaleAnswer, "plan" | "loops">;

/** The last run of each cell, and the versions of the names that they made. */
export class CellRuns {
  readonly #names = new Map<string, Name>();
  readonly #runs = new Map<string, Run>();

  /** A cell has run, whether or not it came to its end. */
  add({ cell, source, read, declared, assigned }: CellRun): void {
    const made = new Set([...declared, ...assigned]);
    for (const name of made) {
      const known = this.#names.get(name);
      const isDeclared = known === undefined || declared.includes(name);
      const declarer = isDeclared ? cell : known.declarer;
      this.#names.set(name, { version: (known?.version ?? 0) + 1, declarer, maker: cell });
    }
    if (cell === undefined) return;
    // A name that the cell gave a value itself is read as it left it.
    const versions = [...read].map((name) => [name, this.#version(name)] as const);
    this.#runs.set(cell, { source, made, read: new Map(versions) });
  }

  /** Cells that are edited or stale. */
  states(cells: readonly NotebookCell[]): Map<string, CellState> {
    const present = new Set(cells.map(({ id }) => id));
    const states = new Map<string, CellState>();
    for (const { id, source } of cells) {
      const run = this.#runs.get(id);
      if (run === undefined) continue;
      const stale: StaleReason[] = [];
      for (const [name, version] of run.read) {
        const isGone = this.#owners(name, id).some(
          (owner) => !present.has(owner) || this.#runs.get(owner)?.made.has(name) !== true,
        );
        if (isGone) stale.push({ name, why: "gone" });
        else if (version !== this.#version(name)) stale.push({ name, why: "newer" });
      }
      states.set(id, { edited: run.source !== source, stale });
    }
    const readers = this.#readers(cells);
    const isMarked = ({ edited, stale }: CellState): boolean => edited || stale.length > 0;
    const waiting = [...states].filter(([, state]) => isMarked(state)).map(([id]) => id);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const why = states.get(id)!.edited ? "edited" : "stale";
      for (const [reader, names] of readers.get(id) ?? []) {
        const state = states.get(reader)!;
        const was = isMarked(state);
        for (const name of names) {
          if (state.stale.every((known) => known.name !== name)) state.stale.push({ name, why });
        }
        if (!was) waiting.push(reader);
      }
    }
    return new Map([...states].filter(([, state]) => isMarked(state)));
  }

  /** All cells that are edited or stale, in the order in which they are to run. */
  planStale(cells: readonly NotebookCell[]): Plan {
    return this.#plan(cells, new Set(this.states(cells).keys()));
  }

  /** What depends on a cell; the cell itself comes first where it is edited or stale. */
  planDependents(cells: readonly NotebookCell[], of: string): Plan {
    const readers = this.#readers(cells);
    const chosen = new Set<string>();
    const waiting = [of];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      for (const reader of readers.get(id)?.keys() ?? []) {
        if (chosen.has(reader)) continue;
        chosen.add(reader);
        waiting.push(reader);
      }
    }
    const isItself = this.states(cells).has(of);
    if (isItself) chosen.add(of);
    else chosen.delete(of);
    return this.#plan(cells, chosen);
  }

  #version(name: string): number {
    return this.#names.get(name)?.version ?? 0;
  }

  /** The other cells that gave a name what it is now. */
  #owners(name: string, reader: string): string[] {
    const { declarer, maker } = this.#names.get(name) ?? {};
    const owners = new Set([declarer, maker]);
    return [...owners].filter((owner) => owner !== undefined && owner !== reader) as string[];
  }

  /** By cell: the cells that read what it declared or assigned, each with those names. */
  #readers(cells: readonly NotebookCell[]): Map<string, Map<string, string[]>> {
    const readers = new Map<string, Map<string, string[]>>();
    for (const { id } of cells) {
      for (const name of this.#runs.get(id)?.read.keys() ?? []) {
        for (const owner of this.#owners(name, id)) {
          const ofOwner = readers.get(owner) ?? new Map<string, string[]>();
          readers.set(owner, ofOwner.set(id, [...(ofOwner.get(id) ?? []), name]));
        }
      }
    }
    return readers;
  }

  #plan(cells: readonly NotebookCell[], chosen: ReadonlySet<string>): Plan {
    const order = cells.map(({ id }) => id).filter((id) => chosen.has(id));
    const readers = this.#readers(cells);
    const next = new Map(
      order.map((id) => [id, [...(readers.get(id)?.keys() ?? [])].filter((r) => chosen.has(r))]),
    );
    return inOrder(order, next);
  }
}

/** Sorts `order` so that each comes before what `next` has for it; those of a circle keep their order. */
function inOrder(order: readonly string[], next: ReadonlyMap<string, readonly string[]>): Plan {
  const circles = circlesOf(order, next);
  const circleOf = new Map(circles.flatMap((ids, at) => ids.map((id) => [id, at] as const)));
  const left = circles.map((ids) => ids.length);
  /** How many circles must be done before each. */
  const before = circles.map(() => 0);
  const after = circles.map((ids, at) => {
    const found = new Set(
      ids.flatMap((id) => next.get(id)!.map((reader) => circleOf.get(reader)!)),
    );
    found.delete(at);
    for (const later of found) before[later]!++;
    return found;
  });
  const rank = new Map(order.map((id, at) => [id, at]));
  const ready = circles.flatMap((ids, at) => (before[at] === 0 ? ids : []));
  const plan: string[] = [];
  while (ready.length > 0) {
    let first = 0;
    for (let i = 1; i < ready.length; i++) {
      if (rank.get(ready[i]!)! < rank.get(ready[first]!)!) first = i;
    }
    const [id] = ready.splice(first, 1) as [string];
    plan.push(id);
    const at = circleOf.get(id)!;
    if (--left[at]! > 0) continue;
    for (const later of after[at]!) if (--before[later]! === 0) ready.push(...circles[later]!);
  }
  const byRank = (ids: string[]): string[] => ids.sort((a, b) => rank.get(a)! - rank.get(b)!);
  return { plan, loops: circles.filter((ids) => ids.length > 1).map(byRank) };
}

/** Groups of which each member leads to each other (Tarjan), without recursion: a notebook may be long. */
function circlesOf(
  order: readonly string[],
  next: ReadonlyMap<string, readonly string[]>,
): string[][] {
  const found = new Map<string, number>();
  const low = new Map<string, number>();
  const open = new Set<string>();
  const stack: string[] = [];
  const circles: string[][] = [];
  for (const root of order) {
    if (found.has(root)) continue;
    const path: { id: string; at: number }[] = [];
    const enter = (id: string): void => {
      low.set(id, found.size);
      found.set(id, found.size);
      open.add(id);
      stack.push(id);
      path.push({ id, at: 0 });
    };
    enter(root);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { id } = step;
      const target = next.get(id)![step.at++];
      if (target !== undefined) {
        if (!found.has(target)) enter(target);
        else if (open.has(target)) low.set(id, Math.min(low.get(id)!, found.get(target)!));
        continue;
      }
      path.pop();
      const parent = path.at(-1)?.id;
      if (parent !== undefined) low.set(parent, Math.min(low.get(parent)!, low.get(id)!));
      if (low.get(id) !== found.get(id)) continue;
      const circle = stack.splice(stack.indexOf(id));
      for (const member of circle) open.delete(member);
      circles.push(circle);
    }
  }
  return circles;
}
