// The kernel beside others, over ZeroMQ, all in one run: cold start, round trips, printing, memory.
// ipykernel is measured where ARPO_LAB_PYTHON names a Python that has it; tslab comes with the package.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { FrontEnd } from "../../tests/kernel/front-end.js";
import type { Figure } from "./figure.js";

interface Baseline {
  name: string;
  /** undefined: our own. */
  argv?: string[];
  python?: boolean;
}

/** By name without the area; a kernel that has no answer has no figure. */
type Values = Record<string, number>;

const units: Record<string, string> = { s: "s", ms: "ms", mb: "MB", lines: "lines" };
const unitOf = (name: string): string => units[name.slice(name.lastIndexOf("_") + 1)]!;

const tslab = createRequire(import.meta.url).resolve("tslab/bin/tslab");
const baselines: Baseline[] = [
  { name: "arpo-lab" },
  {
    name: "tslab",
    argv: [process.execPath, tslab, "kernel", "--config-path", "{connection_file}"],
  },
];
const python = process.env.ARPO_LAB_PYTHON;
if (python !== undefined && spawnSync(python, ["-c", "import ipykernel"]).status === 0) {
  const argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"];
  baselines.push({ name: "ipykernel", argv, python: true });
}

const STARTS = 3;
const at = (values: number[], part: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!;

/** Linux tells; elsewhere the figure is left out. */
function residentMb(pid: number): number | undefined {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 2 ** 20;
  } catch {
    return undefined;
  }
}

async function roundTrips(
  kernel: FrontEnd,
  code: (i: number) => string,
  n: number,
  pause = 0,
): Promise<number[]> {
  const ms: number[] = [];
  for (let i = 0; i < n; i++) {
    const { replied, finished } = kernel.start(code(i));
    ms.push(await replied);
    // tslab now and then loses the status that says it is idle.
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, 300))]);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return ms;
}

/** Milliseconds from the request to what completes it, in turns with different texts. */
async function completions(kernel: FrontEnd, codes: string[], n: number): Promise<number[]> {
  const ms: number[] = [];
  for (let i = 0; i < n; i++) {
    const code = codes[i % codes.length]!;
    const since = performance.now();
    await kernel.request("shell", "complete_request", { code, cursor_pos: code.length });
    ms.push(performance.now() - since);
  }
  return ms;
}

async function measure({ argv, python }: Baseline): Promise<Values> {
  const start = (): Promise<FrontEnd> => FrontEnd.start({ cwd: tmpdir(), ...(argv && { argv }) });
  const names = python
    ? ["import os; os.pa", "'a'.up", "import json; json.lo"]
    : ["process.ver", "'a'.toUp", "Math.ro"];
  const starts: number[] = [];
  const first: number[] = [];
  let kernel: FrontEnd | undefined;
  for (let i = 0; i < STARTS; i++) {
    if (kernel !== undefined) await kernel.close();
    const since = performance.now();
    kernel = await start();
    await kernel.execute("1");
    starts.push((performance.now() - since) / 1000);
    if (i < STARTS - 1) first.push(...(await completions(kernel, names, 1)));
  }
  const values: Values = { cold_start_s: at(starts, 0.5) };
  const noop = await roundTrips(kernel!, () => "1+1", 200);
  values.noop_ms = at(noop, 0.5);
  values.noop_p95_ms = at(noop, 0.95);
  const changing = (i: number): string =>
    python
      ? `def f${i}(x): return x * ${i}\nf${i}(${i})`
      : `const f${i} = (x: number): number => x * ${i};\nf${i}(${i})`;
  const changed = await roundTrips(kernel!, changing, 100);
  values.varied_ms = at(changed, 0.5);
  values.varied_p95_ms = at(changed, 0.95);
  const wrong = (i: number): string =>
    python ? `x${i}: str = 3 + 'a'` : `const s${i}: string = ${i};`;
  values.error_ms = at(await roundTrips(kernel!, wrong, 15, 100), 0.5);
  const memory = residentMb(kernel!.process.pid!);
  if (memory !== undefined) values.memory_mb = memory;
  values.complete_first_ms = at(first, 0.5);
  await completions(kernel!, names, names.length);
  values.complete_ms = at(await completions(kernel!, names, 30), 0.5);
  const since = performance.now();
  const printing = kernel!.start(
    python
      ? "for i in range(20000): print('line', i, 'x' * 100)"
      : "for (let i = 0; i < 20000; i++) console.log('line ' + i + ' ' + 'x'.repeat(100))",
  );
  // tslab loses lines and the idle status with them: then there is no time to tell.
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 5000, undefined));
  const printed = await Promise.race([printing.finished, late]);
  const text = printed?.text ?? printing.messages.map((m) => String(m.content.text ?? "")).join("");
  values.stream_20k_lines = text.split("\n").length - 1;
  if (printed !== undefined) values.stream_20k_s = (performance.now() - since) / 1000;
  kernel!.process.kill("SIGKILL");
  await kernel!.exited;
  await kernel!.close();
  return values;
}

/** Our figures, each beside every baseline that has one. */
export async function* figures(): AsyncGenerator<Figure> {
  const measured: { name: string; values: Values }[] = [];
  for (const baseline of baselines)
    measured.push({ name: baseline.name, values: await measure(baseline) });
  const [ours, ...others] = measured;
  for (const [name, value] of Object.entries(ours!.values)) {
    const figure: Figure = { name: `kernel.${name}`, value, unit: unitOf(name) };
    const beside = others.filter(({ values }) => values[name] !== undefined);
    if (beside.length === 0) yield figure;
    for (const { name: baseline, values } of beside) {
      const baselineValue = values[name]!;
      // A baseline that delivered nothing is nothing to divide by.
      yield {
        ...figure,
        baseline,
        baselineValue,
        ...(baselineValue > 0 && { ratio: value / baselineValue }),
      };
    }
  }
}
