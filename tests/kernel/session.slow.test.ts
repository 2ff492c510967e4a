import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FrontEnd } from "./front-end.js";

const CELLS = 2000;
const STEP = 250;

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

test(`${CELLS} cells in a session leave latency flat and memory nearly so`, async (t) => {
  const kernel = await FrontEnd.start();
  const curve: { cells: number; ms: number; mb: number }[] = [];
  try {
    let times: number[] = [];
    for (let i = 1; i <= CELLS; i++) {
      const name = `v${i % 50}`;
      const { reply, ms } = await kernel.execute(
        `const ${name} = { n: ${i}, list: [${i}, ${i} + 1] };\n` +
          `function f${i % 20}(x: number): number { return x + ${name}.n; }\n` +
          `console.log('cell', ${i}); f${i % 20}(${i})`,
      );
      assert.equal(reply.status, "ok");
      assert.equal(reply.execution_count, i);
      times.push(ms);
      if (i % STEP === 0) {
        curve.push({ cells: i, ms: median(times), mb: residentMb(kernel.process.pid!) ?? 0 });
        times = [];
        kernel.iopub.length = 0;
      }
    }
    for (const { cells, ms, mb } of curve) {
      t.diagnostic(`${cells} cells: ${ms.toFixed(2)} ms a cell, ${mb.toFixed(0)} MB`);
    }
    // The first steps warm up. From there on a cell may leave its source, its map and its types
    // behind, about 20 kB, and as much again that nobody has collected yet.
    const [early, late] = [curve[1]!, curve.at(-1)!];
    assert.ok(late.ms < 3 * early.ms, `from ${early.ms} to ${late.ms} ms`);
    assert.ok(
      late.mb - early.mb < (late.cells - early.cells) * 0.1,
      `from ${early.mb} to ${late.mb} MB`,
    );
  } finally {
    await kernel.close();
  }
});
