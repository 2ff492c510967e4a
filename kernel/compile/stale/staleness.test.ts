import assert from "node:assert/strict";
import { test } from "node:test";
import { CellRuns } from "./staleness.js";

/** Numbers in [0, 1) that are the same in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const letters = ["a", "b", "c", "d", "e"];

/** A cell of the generated programs: what its text reads, declares and assigns. */
interface Program {
  id: string;
  source: string;
  read: string[];
  declared: string[];
  assigned: string[];
}

/** The rule written out over the history of all runs, without any bookkeeping. */
class Oracle {
  readonly history: Program[] = [];

  #last(id: string): number {
    return this.history.findLastIndex((run) => run.id === id);
  }
  #makes = (run: Program, name: string): boolean =>
    run.declared.includes(name) || run.assigned.includes(name);

  /** The run that last declared a name, first of all where nobody did, and the run that last made it. */
  owners(name: string, reader: string): string[] {
    const runs = this.history.filter((run) => this.#makes(run, name));
    const declarer = runs.findLast((run) => run.declared.includes(name)) ?? runs[0];
    const ids = [declarer?.id, runs.at(-1)?.id];
    return ids.filter((id) => id !== undefined && id !== reader) as string[];
  }

  states(cells: Program[]): Record<string, { edited: boolean; stale: string[] }> {
    const marked = new Map<string, { edited: boolean; stale: Map<string, string> }>();
    for (const { id, source } of cells) {
      const at = this.#last(id);
      if (at < 0) continue;
      marked.set(id, { edited: this.history[at]!.source !== source, stale: new Map() });
    }
    for (let changed = true; changed;) {
      changed = false;
      for (const [id, state] of marked) {
        const at = this.#last(id);
        for (const name of this.history[at]!.read) {
          if (state.stale.has(name)) continue;
          const owners = this.owners(name, id);
          const isGone = owners.some((owner) => {
            const here = cells.some((cell) => cell.id === owner);
            return !here || !this.#makes(this.history[this.#last(owner)]!, name);
          });
          const isNewer = this.history.slice(at + 1).some((run) => this.#makes(run, name));
          const isOld = owners.some((owner) => {
            const other = marked.get(owner);
            return other !== undefined && (other.edited || other.stale.size > 0);
          });
          if (!isGone && !isNewer && !isOld) continue;
          state.stale.set(name, isGone ? "gone" : isNewer ? "newer" : "other");
          changed = true;
        }
      }
    }
    const found = [...marked].filter(([, { edited, stale }]) => edited || stale.size > 0);
    return Object.fromEntries(
      found.map(([id, { edited, stale }]) => [
        id,
        { edited, stale: [...stale].map(([name, why]) => `${name} ${why}`).sort() },
      ]),
    );
  }

  /** Whether what `from` made leads to `to`, by the names of cells that are here. */
  reach(cells: Program[]): (from: string, to: string) => boolean {
    const ran = cells.filter(({ id }) => this.#last(id) >= 0).map(({ id }) => id);
    const leads = new Set<string>();
    for (const to of ran) {
      for (const name of this.history[this.#last(to)]!.read) {
        for (const from of this.owners(name, to)) leads.add(`${from} ${to}`);
      }
    }
    for (const via of ran) {
      for (const from of ran) {
        for (const to of ran) {
          if (leads.has(`${from} ${via}`) && leads.has(`${via} ${to}`)) leads.add(`${from} ${to}`);
        }
      }
    }
    return (from, to) => leads.has(`${from} ${to}`);
  }

  /** The first of the notebook that no other one has to come before, again and again. */
  order(cells: Program[], chosen: ReadonlySet<string>): string[] {
    const reach = this.reach(cells.filter(({ id }) => chosen.has(id)));
    const left = cells.map(({ id }) => id).filter((id) => chosen.has(id));
    const order: string[] = [];
    while (left.length > 0) {
      const at = left.findIndex((id) => left.every((o) => !reach(o, id) || reach(id, o)));
      order.push(...left.splice(at, 1));
    }
    return order;
  }
}

test("stale cells, their order and what depends on a cell are as the rule says, in 800 random notebooks", () => {
  const random = numbers(51);
  const some = (chance: number): string[] => letters.filter(() => random() < chance);
  let [stale, loops, gone] = [0, 0, 0];
  for (let notebook = 0; notebook < 800; notebook++) {
    const runs = new CellRuns();
    const oracle = new Oracle();
    let texts = 0;
    const write = (id: string): Program => {
      const declared = some(0.2);
      const free = (names: string[]): string[] => names.filter((n) => !declared.includes(n));
      const source = `text ${++texts}`;
      return { id, source, declared, read: free(some(0.3)), assigned: free(some(0.15)) };
    };
    let cells = Array.from({ length: 2 + Math.floor(random() * 6) }, (_, i) => write(`c${i}`));
    for (let step = 0; step < 12; step++) {
      const at = Math.floor(random() * cells.length);
      const kind = random();
      if (kind < 0.7) {
        const cell = cells[at]!;
        runs.add({ ...cell, cell: cell.id });
        oracle.history.push(cell);
      } else if (kind < 0.82) cells[at] = write(cells[at]!.id);
      else if (kind < 0.88 && cells.length > 1) cells = cells.filter((_, i) => i !== at);
      else if (kind < 0.94) cells.splice(at, 0, write(`n${notebook}-${step}`));
      else cells.push(...cells.splice(at, 1));
      const states = oracle.states(cells);
      const found = Object.fromEntries(
        [...runs.states(cells)].map(([id, state]) => [
          id,
          {
            edited: state.edited,
            stale: state.stale
              .map(({ name, why }) => `${name} ${/edited|stale/.test(why) ? "other" : why}`)
              .sort(),
          },
        ]),
      );
      assert.deepEqual(found, states);
      const marked = new Set(Object.keys(states));
      const plan = runs.planStale(cells);
      assert.deepEqual(plan.plan, oracle.order(cells, marked));
      const reach = oracle.reach(cells.filter(({ id }) => marked.has(id)));
      const inLoops = plan.loops.flat().sort();
      assert.deepEqual(inLoops, [...marked].filter((id) => reach(id, id)).sort());
      const of = cells[Math.min(at, cells.length - 1)]!.id;
      const everywhere = oracle.reach(cells);
      const dependents = new Set(
        cells.map(({ id }) => id).filter((id) => (id === of ? marked.has(of) : everywhere(of, id))),
      );
      assert.deepEqual(runs.planDependents(cells, of).plan, oracle.order(cells, dependents));
      stale += marked.size;
      loops += plan.loops.length;
      gone += JSON.stringify(states).split(" gone").length - 1;
    }
  }
  // The notebooks have what there is to find.
  assert.ok(stale > 5000 && loops > 100 && gone > 300, `${stale} ${loops} ${gone}`);
});

const cell = (id: string, source = id): { id: string; source: string } => ({ id, source });
const ran = (
  runs: CellRuns,
  id: string,
  { read = [], declared = [], assigned = [] }: Partial<Omit<Program, "id">>,
): void => runs.add({ cell: id, source: id, read, declared, assigned });

test("a cell is stale where what it read was made anew, and where its declarer is edited or gone", () => {
  const runs = new CellRuns();
  ran(runs, "a", { declared: ["x"] });
  ran(runs, "b", { read: ["x"], declared: ["y"] });
  ran(runs, "c", { read: ["y"] });
  const cells = [cell("a"), cell("b"), cell("c")];
  assert.deepEqual(runs.states(cells), new Map());
  const edited = runs.states([cell("a", "other"), cell("b"), cell("c")]);
  assert.deepEqual(edited.get("a"), { edited: true, stale: [] });
  assert.deepEqual(edited.get("b")?.stale, [{ name: "x", why: "edited" }]);
  assert.deepEqual(edited.get("c")?.stale, [{ name: "y", why: "stale" }]);
  const gone = runs.states([cell("b"), cell("c")]);
  assert.deepEqual(gone.get("b")?.stale, [{ name: "x", why: "gone" }]);
  ran(runs, "a", { declared: ["x"] });
  assert.deepEqual(runs.states(cells).get("b")?.stale, [{ name: "x", why: "newer" }]);
  ran(runs, "a", { declared: ["z"] });
  assert.deepEqual(runs.states(cells).get("b")?.stale, [{ name: "x", why: "gone" }]);
});

test("a cell that counts on from what it read is not stale by itself", () => {
  const runs = new CellRuns();
  ran(runs, "a", { declared: ["n"] });
  ran(runs, "b", { read: ["n"], assigned: ["n"] });
  ran(runs, "b", { read: ["n"], assigned: ["n"] });
  const cells = [cell("a"), cell("b")];
  assert.deepEqual(runs.states(cells), new Map());
  ran(runs, "a", { declared: ["n"] });
  assert.deepEqual(runs.planStale(cells), { plan: ["b"], loops: [] });
});

test("a notebook of 5000 cells in a chain is sorted", () => {
  const runs = new CellRuns();
  const cells = Array.from({ length: 5000 }, (_, i) => cell(`c${i}`));
  for (const [i, { id }] of cells.entries()) {
    ran(runs, id, { read: i === 0 ? [] : [`x${i - 1}`], declared: [`x${i}`] });
  }
  ran(runs, "c0", { declared: ["x0"] });
  const { plan } = runs.planStale(cells.toReversed());
  assert.equal(plan.length, 4999);
  assert.equal(plan[0], "c1");
});
