import { ownCpuSeconds } from "#platform/process";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, integer } from "../../../common/options/check-options.js";
import { textTable } from "../../base/text/text-table.js";
import { ready } from "../backends.js";
import { type MachineLimits, measureMachine } from "./machine.js";
import { type Recorded, Recorder } from "./recorder.js";

export interface ProfileOptions {
  /** How often it is run; of each operation the fastest run counts. Default: 3. */
  runs?: number;
  /** Runs before that, which are not recorded. Default: 1. */
  warmUps?: number;
  /**
   * `cpu` counts the process's CPU time, all threads together: with `ARPO_LAB_THREADS=1` other programs
   * disturb it least. Default: `wall`.
   */
  clock?: "wall" | "cpu";
  /** What shares are of. Default: measured before the first run. */
  limits?: MachineLimits;
}

/** One operation of a profile. */
export interface ProfiledOperation {
  operation: string;
  calls: number;
  milliseconds: number;
  /** Of the time of everything. */
  share: number;
  /** Billions of products and sums. */
  gigaOperations: number;
  /** Bytes read and written at least, in millions. */
  megabytes: number;
  /**
   * The time that the machine needs at least, divided by the time taken: for the products at its highest rate,
   * or where there are none for the bytes at its memory's bandwidth. Bytes from
   * a cache, and bytes read and written at once, can be faster: then it is above 1.
   */
  ofLimit: number | undefined;
}

const rest = "JavaScript and the rest";

/** What `profile` found: operations by falling time, and what lies between them. */
export class Profile {
  constructor(
    readonly backend: string,
    readonly clock: "wall" | "cpu",
    readonly limits: MachineLimits | undefined,
    /** Of one run. */
    readonly milliseconds: number,
    readonly operations: readonly ProfiledOperation[],
  ) {}

  /** The time of everything that multiplies matrices. */
  get productMilliseconds(): number {
    const products = this.operations.filter((one) => one.gigaOperations > 0);
    return products.reduce((sum, one) => sum + one.milliseconds, 0);
  }

  toString(): string {
    const { backend, clock, limits, milliseconds } = this;
    const cells = this.operations.map((one) => [
      one.operation,
      `${one.calls || ""}`,
      one.milliseconds.toFixed(2),
      `${(100 * one.share).toFixed(1)} %`,
      one.gigaOperations ? one.gigaOperations.toFixed(2) : "",
      one.gigaOperations ? (one.gigaOperations / one.milliseconds).toFixed(2) : "",
      one.megabytes ? (one.megabytes / one.milliseconds).toFixed(1) : "",
      one.ofLimit === undefined ? "" : one.ofLimit.toFixed(2),
    ]);
    const head = ["operation", "calls", "ms", "share", "GFLOP", "TFLOP/s", "GB/s", "of limit"];
    const machine = limits
      ? `; limits: ${(limits.products / 1e12).toFixed(2)} TFLOP/s, ${(limits.bandwidth / 1e9).toFixed(1)} GB/s (${limits.isa}, threads: ${limits.threads})`
      : "";
    const title = `${milliseconds.toFixed(1)} ms of ${clock} time on ${backend}${machine}`;
    return `${title}\n${textTable([head, ...cells])}`;
  }
}

const clocks = {
  wall: () => performance.now(),
  cpu: () => 1000 * ownCpuSeconds()!,
};

/** Of each operation the fastest of the runs. */
function fastest(runs: readonly ReadonlyMap<string, Recorded>[]): Map<string, Recorded> {
  const found = new Map<string, Recorded>();
  for (const run of runs) {
    for (const [name, record] of run) {
      const before = found.get(name);
      if (!before || record.time < before.time) found.set(name, record);
    }
  }
  return found;
}

/**
 * Runs something a few times and tells what each tensor operation took, how much it computed, and what share
 * of this machine's limit that is. Operations go by tfjs's names; those of a transformer are this library's
 * (`LinearGrad`, `CausalAttention`).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { profile } from "arpo-lab/experimental/profile";
 * import { tf } from "arpo-lab/model";
 *
 * const x = tf.randomNormal([64, 64]);
 * const report = await profile(() => void x.matMul(x).dispose());
 * assert.equal(report.operations.find((one) => one.operation === "BatchMatMul")?.calls, 1);
 * assert.match(`${report}`, /operation +calls +ms/);
 * x.dispose();
 * ```
 */
export async function profile(run: () => unknown, options: ProfileOptions = {}): Promise<Profile> {
  checkArguments("profile", { run }, { run: "function" });
  checkOptions("profile", options, {
    runs: integer(),
    warmUps: integer(0),
    clock: { must: "wall or cpu", holds: (value) => value === "wall" || value === "cpu" },
    limits: "object?",
  });
  const backend = await ready();
  if (backend === "webgpu" || backend === "tensorflow") {
    throw new RangeError(
      `Cannot profile: the backend must be native, wasm, wasm-relaxed or cpu, got ${backend}`,
    );
  }
  const { runs = 3, warmUps = 1, clock = "wall" } = options;
  if (clock === "cpu" && ownCpuSeconds() === undefined) {
    throw new RangeError("Cannot profile: the clock must be wall in a browser tab, got cpu");
  }
  const limits = options.limits ?? (backend === "cpu" ? undefined : measureMachine());
  for (let i = 0; i < warmUps; i++) await run();
  const found: Map<string, Recorded>[] = [];
  let whole = Infinity;
  for (let i = 0; i < runs; i++) {
    const recorder = new Recorder(clocks[clock]);
    const start = clocks[clock]();
    try {
      await run();
    } finally {
      recorder.stop();
    }
    whole = Math.min(whole, clocks[clock]() - start);
    found.push(recorder.found);
  }
  const all = fastest(found);
  const between = whole - [...all.values()].reduce((sum, { time }) => sum + time, 0);
  all.set(rest, { calls: 0, time: Math.max(0, between), operations: 0, bytes: 0 });
  const operations = [...all]
    .sort(([, a], [, b]) => b.time - a.time)
    .map(([operation, { calls, time, operations: products, bytes }]) => {
      const least =
        limits && (products > 0 ? products / limits.products : bytes / limits.bandwidth);
      return {
        operation,
        calls,
        milliseconds: time,
        share: time / whole,
        gigaOperations: products / 1e9,
        megabytes: bytes / 1e6,
        ofLimit: least ? (1000 * least) / time : undefined,
      };
    });
  return new Profile(backend, clock, limits, whole, operations);
}
