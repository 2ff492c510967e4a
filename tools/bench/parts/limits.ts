// What this machine can do at most, measured in the run that uses it, in a process of its own, so that its memory is
// nobody's.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { MachineLimits } from "../../../src/tensor/profile/machine.js";
import type { Figure } from "../figure.js";

export interface Limits {
  /** With one thread, and with all. */
  one: MachineLimits;
  all: MachineLimits;
}

/** Nothing where the backend is none that can be measured. */
export function measureLimits(): Limits | undefined {
  const part = fileURLToPath(new URL("machine.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [part], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot measure the machine: ${stderr}`);
  return (JSON.parse(stdout) as Limits | null) ?? undefined;
}

/** The limits themselves, as figures of a benchmark. */
export function* limitFigures(area: string, limits: Limits | undefined): Iterable<Figure> {
  for (const [name, one] of Object.entries(limits ?? {}) as [string, MachineLimits][]) {
    const backend = `${one.isa}, threads: ${one.threads}`;
    const of = (what: string, value: number, unit: string): Figure => ({
      ...{ name: `${area}.limit_${name}.${what}`, value: value / 1e9, unit, backend },
    });
    yield of("products", one.products, "GFLOP/s");
    yield of("integer_products", one.integerProducts, "Gop/s");
    yield of("bfloat16_products", one.bfloat16Products, "GFLOP/s");
    yield of("bandwidth", one.bandwidth, "GB/s");
  }
}
