// The kernel beside others, over ZeroMQ, all in one run: cold start, round trips, printing, memory.
// ipykernel is measured where ARPO_LAB_PYTHON names a Python that has it; tslab comes with the package.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { FrontEnd } from "../tests/kernel/front-end.js";
import type { Figure } from "./figure.js";

interface Peer {
  name: string;
  /** undefined: our own. */
  argv?: string[];
  python?: boolean;
}

type Values = Record<string, number>;

const tslab = createRequire(import.meta.url).resolve("tslab/bin/tslab");
const peers: Peer[] = [
  { name: "arpo-lab" },
  {
    name: "tslab",
    argv: [process.execPath, tslab, "kernel", "--config-path", "{connection_file}"],
  },
];
if (process.env.ARPO_LAB_PYTHON !== undefined) {
  const argv = [process.env.ARPO_LAB_PYTHON, "-m", "ipykernel_launcher", "-f", "{connection_file}"];
  peers.push({ name: "ipykernel", argv, python: true });
}

const STARTS = 3;
const at = (values: number[], part: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!;

/** Linux tells; elsewhere the figure is left out. */
function residentMb(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 2 ** 20;
  } catch {
    return NaN;
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

async function measure({ argv, python }: Peer): Promise<Values> {
  const starts: number[] = [];
  let kernel: FrontEnd | undefined;
  for (let i = 0; i < STARTS; i++) {
    if (kernel !== undefined) await kernel.close();
    const since = performance.now();
    kernel = await FrontEnd.start({ cwd: tmpdir(), ...(argv && { argv }) });
    await kernel.execute("1");
    starts.push((performance.now() - since) / 1000);
  }
  const values: Values = { "cold start, s": at(starts, 0.5) };
  const noop = await roundTrips(kernel!, () => "1+1", 200);
  values["1+1, ms p50"] = at(noop, 0.5);
  values["1+1, ms p95"] = at(noop, 0.95);
  const changing = (i: number): string =>
    python
      ? `def f${i}(x): return x * ${i}\nf${i}(${i})`
      : `const f${i} = (x: number): number => x * ${i};\nf${i}(${i})`;
  const changed = await roundTrips(kernel!, changing, 100);
  values["changing cell, ms p50"] = at(changed, 0.5);
  values["changing cell, ms p95"] = at(changed, 0.95);
  const wrong = (i: number): string =>
    python ? `x${i}: str = 3 + 'a'` : `const s${i}: string = ${i};`;
  values["type error, ms p50"] = at(await roundTrips(kernel!, wrong, 15, 300), 0.5);
  values["memory, MB"] = residentMb(kernel!.process.pid!);
  const since = performance.now();
  const printing = kernel!.start(
    python
      ? "for i in range(20000): print('line', i, 'x' * 100)"
      : "for (let i = 0; i < 20000; i++) console.log('line ' + i + ' ' + 'x'.repeat(100))",
  );
  // tslab loses lines and the idle status with them.
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 15_000, undefined));
  const printed = await Promise.race([printing.finished, late]);
  const text = printed?.text ?? printing.messages.map((m) => String(m.content.text ?? "")).join("");
  values["20,000 lines: delivered"] = text.split("\n").length - 1;
  values["20,000 lines, s"] = printed === undefined ? NaN : (performance.now() - since) / 1000;
  kernel!.process.kill("SIGKILL");
  await kernel!.exited;
  await kernel!.close();
  return values;
}

/** Our figures, each beside every peer that is there. */
export async function* figures(): AsyncGenerator<Figure> {
  const measured: { name: string; values: Values }[] = [];
  for (const peer of peers) measured.push({ name: peer.name, values: await measure(peer) });
  const [ours, ...others] = measured;
  for (const [name, value] of Object.entries(ours!.values)) {
    const unit = /, (s|ms|MB)\b/.exec(name)?.[1] ?? "lines";
    for (const { name: peer, values } of others) {
      const peerValue = values[name]!;
      yield { name: `kernel ${name}`, value, unit, peer, peerValue, ratio: value / peerValue };
    }
  }
}
