// Tools: what a Python call costs, warm and cold, beside a fresh `python3 -c`; what the search cache
// costs, empty and full, beside rewriting a JSON file as the reference does.
import { execFile } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sandboxUnavailableReason, systemPython } from "../../src/tools/python/system-python.js";
import { offlineSearch } from "../../src/tools/search/offline.js";
import { pyodidePool } from "../../src/tools/python/pyodide-python.js";
import { SearchCache } from "../../src/tools/search/search-cache.js";
import type { PythonPool } from "../../src/tools/python/python-pool.js";
import type { Figure } from "./figure.js";

const run = promisify(execFile);
const code = "print(2+2)";

/** Calls per second with a number of callers that each wait for their answer. */
async function perSecond(
  call: () => Promise<unknown>,
  callers: number,
  seconds: number,
): Promise<number> {
  let calls = 0;
  const started = performance.now();
  const caller = async () => {
    while (performance.now() - started < seconds * 1000) {
      await call();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (calls * 1000) / (performance.now() - started);
}

const check = async (pool: PythonPool) => {
  const { text } = await pool.run(code);
  if (text !== "4") throw new Error(`Cannot measure: print(2+2) must give 4, got ${text}`);
};

async function* python(): AsyncIterable<Figure> {
  // The interpreter itself: what PATH names may be a version manager's script, ten times slower.
  const { stdout } = await run("python3", ["-c", "import sys; print(sys.executable)"]);
  const fresh = () => run(stdout.trim(), ["-c", code]);
  let started = performance.now();
  const pool = pyodidePool({ workers: 2 });
  await check(pool);
  yield { name: "tools.python.cold", value: performance.now() - started, unit: "ms" };
  await Promise.all([1, 2].map(() => check(pool)));
  await perSecond(() => check(pool), 2, 1);
  const isolation = sandboxUnavailableReason() === undefined ? "bubblewrap" : "none";
  const system = isolation === "none" ? undefined : systemPython({ workers: 2 }).pool;
  if (system) {
    started = performance.now();
    await check(system);
    yield { name: "tools.python.system.cold", value: performance.now() - started, unit: "ms" };
    await perSecond(() => check(system), 2, 0.5);
  }
  const [warm, cpython, baseline]: number[][] = [[], [], []];
  // In turns, so that whatever else the machine does falls on all of them alike.
  for (let round = 0; round < 5; round++) {
    warm!.push(await perSecond(() => check(pool), 2, 1));
    if (system) cpython!.push(await perSecond(() => check(system), 2, 1));
    baseline!.push(await perSecond(fresh, 2, 1));
  }
  const beside = (name: string, values: number[]): Figure => ({
    name,
    value: median(values),
    unit: "calls/s",
    baseline: "fresh python3 -c",
    baselineValue: median(baseline!),
    ratio: median(values.map((value, i) => value / baseline![i]!)),
  });
  yield beside("tools.python.warm", warm!);
  if (system) yield beside(`tools.python.system.${isolation}`, cpython!);
  yield { name: "tools.python.latency", value: await latency(pool), unit: "ms" };
  await pool.dispose();
  await system?.dispose();
}

/** Median time of calls with a pause between them, as tool calls of a rollout come. */
async function latency(pool: PythonPool): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const started = performance.now();
    await check(pool);
    times.push(performance.now() - started);
  }
  return median(times);
}

const median = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

const entry = (i: number) => ({
  hits: [{ description: `page ${i} `.repeat(100) }],
  at: Date.now(),
});

/** Median microseconds of a write that comes after `before` others. */
function writeTime(cache: SearchCache, before: number): number {
  for (let i = 0; i < before; i++) cache.set(`query ${i}`, entry(i));
  const times = Array.from({ length: 500 }, (_, i) => {
    const value = entry(i);
    const started = performance.now();
    cache.set(`new ${i}`, value);
    return (performance.now() - started) * 1000;
  });
  return median(times);
}

function* search(folder: string): Iterable<Figure> {
  const memory = new SearchCache();
  for (let i = 0; i < 10_000; i++) memory.set(`query ${i}`, entry(i));
  const started = performance.now();
  const reads = 300_000;
  for (let i = 0; i < reads; i++) memory.text(`query ${i % 10_000}`);
  yield {
    name: "tools.search.cached",
    value: (reads * 1000) / (performance.now() - started),
    unit: "lookups/s",
  };
  const small = new SearchCache({ path: join(folder, "small.jsonl") });
  const large = new SearchCache({ path: join(folder, "large.jsonl") });
  const full = writeTime(large, 100_000);
  const empty = writeTime(small, 0);
  yield {
    name: "tools.cache.write.100000",
    value: full,
    unit: "us",
    baseline: "into an empty cache",
    baselineValue: empty,
    ratio: full / empty,
  };
  const texts = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, i) => [`query ${i}`, entry(i).hits[0]!.description]),
  );
  const path = join(folder, "cache.json");
  const rewriting = performance.now();
  writeFileSync(`${path}.tmp`, JSON.stringify(texts, null, 2));
  renameSync(`${path}.tmp`, path);
  const rewrite = (performance.now() - rewriting) * 1000;
  yield {
    name: "tools.cache.write.reference",
    value: full,
    unit: "us",
    baseline: "rewriting the file",
    baselineValue: rewrite,
    ratio: full / rewrite,
  };
  small.close();
  large.close();
}

async function* offline(): AsyncIterable<Figure> {
  const started = performance.now();
  const provider = offlineSearch();
  yield { name: "tools.offline.open", value: performance.now() - started, unit: "ms" };
  const rate = await perSecond(
    () => provider.search("the mayor of a town known for its bells"),
    1,
    1,
  );
  yield { name: "tools.offline.query", value: 1000 / rate, unit: "ms" };
  await provider.dispose();
}

export async function* figures(): AsyncIterable<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "bench-tools-"));
  try {
    yield* python();
    yield* search(folder);
    yield* offline();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
