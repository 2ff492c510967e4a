import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FrontEnd } from "./front-end.js";

const STEP = 50;
/** How far the last quarter may lie above the second, which is after everything has been loaded. */
const MARGIN = 1.15;

/** Resident megabytes of a process, where the system tells. */
function residentMb(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return (pages * 4096) / 2 ** 20;
  } catch {
    return undefined; // no Linux
  }
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** What people do in a session, in turn: the text of a cell and how it ends. */
function cell(i: number): Cell {
  // prettier-ignore
  const kinds: [code: string, status?: "error"][] = [
    [
      `const v${i % 50} = { n: ${i}, list: [${i}, ${i} + 1] };
       function f${i % 20}(x: number): number { return x + v${i % 50}.n; }
       console.log("cell", ${i}); f${i % 20}(${i})`,
    ],
    [`const bad${i}: string = ${i};`, "error"],
    [`import { join } from "node:path"; import { twice } from "./lib.ts"; join("a", String(twice(${i})))`],
    [`class C${i % 30} { constructor(readonly n = ${i}) {} get half(): number { return this.n / 2; } }\nnew C${i % 30}()`],
    [`import { display } from "arpo-lab/kernel"; display.html("<b>${i}</b>"); [1, 2].map((x) => ({ x }))`],
    [`type T${i % 10} = { a: ${i} }; let t${i % 10}: T${i % 10} = { a: ${i} };\nfor (let k = 0; k < 100; k++) console.log(k, "a line of text")`],
    [`throw new RangeError("cell ${i}")`, "error"],
    [`await new Promise((r) => setTimeout(r, 1)); Array.from({ length: 1000 }, (_, k) => k * ${i})`],
    [`1 + ${i}`],
  ];
  const [code, status = "ok"] = kinds[i % kinds.length]!;
  return { code, status };
}

interface Cell {
  code: string;
  status: "ok" | "error";
}

/** Runs cells, and holds the last quarter's memory and latency against the second's. */
async function staysAsItWas(t: TestContext, count: number, cellOf: (i: number) => Cell) {
  const cwd = mkdtempSync(join(tmpdir(), "arpo-session-"));
  writeFileSync(join(cwd, "lib.ts"), "export const twice = (n: number): number => n * 2;");
  const kernel = await FrontEnd.start({ cwd });
  const curve: { cells: number; ms: number; mb: number | undefined }[] = [];
  try {
    let times: number[] = [];
    for (let i = 1; i <= count; i++) {
      const { code, status } = cellOf(i);
      const { reply, ms } = await kernel.execute(code);
      assert.equal(reply.status, status, `${code}\n${JSON.stringify(reply)}`);
      assert.equal(reply.execution_count, i);
      times.push(ms);
      if (i % STEP === 0) {
        curve.push({ cells: i, ms: median(times), mb: residentMb(kernel.process.pid!) });
        times = [];
        kernel.forget();
      }
    }
  } finally {
    await kernel.close();
    rmSync(cwd, { recursive: true });
  }
  const quarters = [0, 1, 2, 3].map((q) => {
    const part = curve.slice((q * curve.length) / 4, ((q + 1) * curve.length) / 4);
    return { ms: median(part.map((p) => p.ms)), mb: median(part.map((p) => p.mb ?? 0)) };
  });
  for (const { cells, ms, mb } of curve.filter((_, i) => i % 5 === 4)) {
    t.diagnostic(`${cells} cells: ${ms.toFixed(2)} ms a cell, ${mb?.toFixed(0) ?? "?"} MB`);
  }
  const [second, last] = [quarters[1]!, quarters[3]!];
  t.diagnostic(`second quarter ${second.mb.toFixed(0)} MB, last ${last.mb.toFixed(0)} MB`);
  assert.ok(last.mb <= second.mb * MARGIN, `from ${second.mb} to ${last.mb} MB`);
  assert.ok(last.ms <= second.ms * 3, `from ${second.ms} to ${last.ms} ms`);
}

test("2,000 cells of every kind leave memory and latency as they were", (t) =>
  staysAsItWas(t, 2000, cell));

test("6,000 cells that the type check refuses leave memory and latency as they were", (t) =>
  staysAsItWas(t, 6000, (i) => ({
    code: `{ const some = Array.from({ length: ${i} }, (_, k) => k * ${i}); console.log(some.length); } unknown${i % 10} = 1`,
    status: "error",
  })));
