import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { StaleAnswer, StaleQuestion } from "../../kernel/contract/stale.js";
import { FrontEnd, held } from "./front-end.js";

let kernel: FrontEnd;
before(async () => {
  kernel = await FrontEnd.start({ language: "typescript" });
});
after(() => kernel.close());

/** A notebook whose cells run as JupyterLab runs them: with their ids. */
class Notebook {
  readonly cells: { id: string; source: string }[];

  constructor(sources: Record<string, string>) {
    this.cells = Object.entries(sources).map(([id, source]) => ({ id, source }));
  }

  edit(id: string, source: string): void {
    this.cells.find((cell) => cell.id === id)!.source = source;
  }

  async run(...ids: string[]): Promise<void> {
    for (const id of ids) {
      const { source } = this.cells.find((cell) => cell.id === id)!;
      await kernel.execute(source, {}, { cellId: id });
    }
  }

  async stale(of?: string): Promise<StaleAnswer> {
    const question: StaleQuestion = { cells: this.cells, ...(of !== undefined && { of }) };
    return (await kernel.ask("arpo-lab.stale", { ...question })) as unknown as StaleAnswer;
  }
}

test("the kernel knows what each cell declared, assigned and read", async () => {
  const notebook = new Notebook({
    sum: "const total = numbers.reduce((a, b) => a + b, 0) + offset; total",
    numbers: "const numbers = [1, 2, 3]; let offset = 0;",
    set: "offset = 10;",
    pattern: "[offset] = [11];",
    inside: "function scaled(k: number) { return numbers.map((n) => n * k); }",
    call: "scaled(2)",
    property: "numbers.push(4)",
    own: "const text = 'numbers'; { const numbers = 7; numbers + text.length }",
  });
  await notebook.run("numbers", "sum", "inside", "call", "own", "property");
  assert.deepEqual((await notebook.stale()).cells, {}, "a push is no newer version");
  await notebook.run("set", "pattern");
  const { cells, plan } = await notebook.stale();
  assert.deepEqual(cells, { sum: { edited: false, stale: [{ name: "offset", why: "newer" }] } });
  assert.deepEqual(plan, ["sum"]);
  const { plan: dependents } = await notebook.stale("numbers");
  assert.deepEqual(dependents, ["sum", "inside", "call", "property"]);
  notebook.edit("numbers", "const numbers = [5]; let offset = 1;");
  const edited = await notebook.stale();
  assert.deepEqual(edited.cells["call"], {
    edited: false,
    stale: [{ name: "scaled", why: "stale" }],
  });
  assert.deepEqual(edited.plan, ["numbers", "sum", "inside", "call", "property"]);
  await notebook.run(...edited.plan);
  assert.deepEqual((await notebook.stale()).cells, {});
});

test("a cell that is deleted, or renamed what it declares, leaves its readers marked", async () => {
  const notebook = new Notebook({ d: "const width = 3;", e: "width * 2" });
  await notebook.run("d", "e");
  const only = await kernel.ask("arpo-lab.stale", { cells: notebook.cells.slice(1) });
  assert.deepEqual(only["cells"], {
    e: { edited: false, stale: [{ name: "width", why: "gone" }] },
  });
  notebook.edit("d", "const breadth = 3;");
  await notebook.run("d");
  assert.deepEqual((await notebook.stale()).cells["e"]?.stale, [{ name: "width", why: "gone" }]);
});

test("cells that change what the other reads are a loop", async () => {
  const notebook = new Notebook({
    f: "let left = 0, right = 0;",
    g: "left = right + 1;",
    h: "right = left + 1;",
  });
  await notebook.run("f", "g", "h");
  const { plan, loops } = await notebook.stale("f");
  assert.deepEqual(plan, ["g", "h"]);
  assert.deepEqual(loops, [["g", "h"]]);
});

test("a counter reads what it counts on from; imports and classes are names as well", async () => {
  const notebook = new Notebook({
    i: "let count = 0;",
    j: "count += 1;",
    k: "count ??= 5;",
    l: 'import { join } from "node:path"; class Box { at = 1 }',
    m: 'join("a", "b") + new Box().at',
  });
  await notebook.run("i", "j", "k", "l", "m");
  await notebook.run("i", "l");
  const { cells } = await notebook.stale();
  assert.deepEqual(Object.keys(cells), ["j", "k", "m"]);
  const names = cells["m"]!.stale.map(({ name }) => name);
  assert.deepEqual(names.sort(), ["Box", "join"]);
});

test("an answer names the cells with stages that take long", async () => {
  const notebook = new Notebook({ n: "let size = 1;", o: "size", p: "size + 1" });
  await notebook.run("n", "o", "p");
  notebook.edit("o", "%%train steps=1\nsize");
  notebook.edit("p", "%%time\nsize");
  const { plan, long } = await notebook.stale("n");
  assert.deepEqual(plan, ["o", "p"]);
  assert.deepEqual(long, ["o"]);
});

test("the answer comes while a cell runs, and a question out of bounds is refused by its rule", async () => {
  const running = kernel.start(held);
  await kernel.begun(running.id);
  assert.deepEqual((await kernel.ask("arpo-lab.stale", { cells: [] }))["plan"], []);
  kernel.release();
  await running.finished;
  const many = Array.from({ length: 5001 }, (_, i) => ({ id: `${i}`, source: "" }));
  assert.match(
    String((await kernel.ask("arpo-lab.stale", { cells: many }))["error"]),
    /cells may be 5000, got 5001/,
  );
  const twice = [
    { id: "x", source: "" },
    { id: "x", source: "" },
  ];
  assert.match(
    String((await kernel.ask("arpo-lab.stale", { cells: twice }))["error"]),
    /id of its own, got x/,
  );
  assert.match(
    String((await kernel.ask("arpo-lab.stale", { cells: "all" }))["error"]),
    /must be a list, got string/,
  );
});
