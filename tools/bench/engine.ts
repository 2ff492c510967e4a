// The tensor engine at the sizes of the PyTorch baseline: one training step and its memory, decoding, what
// a busy neighbour and what forks cost. Training runs in a process of its own, in turns with the baseline.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Benchmark } from "./figure.js";
import { decodeFigure, forkFigures } from "./parts/decode-figures.js";
import { engineSizes, type EngineSize } from "./parts/engine-sizes.js";
import { trainLimit } from "./parts/least-times.js";
import { limitFigures, measureLimits } from "./parts/limits.js";
import { runTorch, torchIsThere } from "./parts/torch-baseline.js";

interface Training {
  backend: string;
  times: number[];
  cpuTimes: number[];
  /** What a step has to do at least. */
  work: { operations: number; optimizerBytes: number };
  megabytes: number;
}

type Precision = "float32" | "bfloat16";

function train(size: EngineSize, threads?: number, precision: Precision = "float32"): Training {
  const env = threads ? { ...process.env, ARPO_LAB_THREADS: String(threads) } : process.env;
  const part = fileURLToPath(new URL("parts/engine-train.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [part, size, precision], {
    encoding: "utf8",
    env,
  });
  if (status !== 0) throw new Error(`Cannot measure training: ${stderr}`);
  return JSON.parse(stdout) as Training;
}

/** Runs something while another process keeps one core busy. */
function besideNeighbour<T>(measure: () => T): T {
  const neighbour = spawn(process.execPath, ["-e", "for (;;) {}"], { stdio: "ignore" });
  try {
    return measure();
  } finally {
    neighbour.kill("SIGKILL");
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

export const figures: Benchmark = async function* () {
  const baseline = torchIsThere();
  const limits = measureLimits();
  yield* limitFigures("engine", limits);
  for (const size of Object.keys(engineSizes) as EngineSize[]) {
    const before = train(size);
    const torch = baseline ? runTorch(size) : undefined;
    const after = torch ? train(size) : before;
    const { backend } = before;
    const value = median([...before.times, ...after.times]);
    const compare = (ours: number, theirs: number | undefined) =>
      theirs === undefined
        ? {}
        : { baseline: `torch ${torch!.version}`, baselineValue: theirs, ratio: ours / theirs };
    yield {
      name: `engine.${size}.train_ms`,
      value,
      unit: "ms",
      backend,
      ...(limits && { share: (1000 * trainLimit(before.work, limits.all)) / value }),
      ...compare(value, torch?.train_ms),
    };
    const mixed = () => train(size, undefined, "bfloat16");
    const early = mixed();
    const autocast = baseline ? runTorch(size, ["--autocast", "--no-decode"]) : undefined;
    const step = median([...early.times, ...(autocast ? mixed() : early).times]);
    yield {
      name: `engine.${size}.train_bfloat16_ms`,
      value: step,
      unit: "ms",
      backend,
      ...(limits && {
        share:
          (1000 *
            trainLimit(early.work, { ...limits.all, products: limits.all.bfloat16Products })) /
          step,
      }),
      ...compare(step, autocast?.train_ms),
    };
    // What a busy machine disturbs least: CPU time of one thread, the fastest step.
    const alone = train(size, 1);
    const torchAlone = baseline ? runTorch(size, ["--threads", "1", "--no-decode"]) : undefined;
    const cpu = Math.min(...alone.cpuTimes, ...(torchAlone ? train(size, 1).cpuTimes : []));
    yield {
      name: `engine.${size}.train_one_thread_cpu_ms`,
      value: cpu,
      unit: "ms",
      backend,
      ...(limits && { share: (1000 * trainLimit(alone.work, limits.one)) / cpu }),
      ...compare(cpu, torchAlone?.train_cpu_ms),
    };
    const megabytes = Math.max(before.megabytes, after.megabytes);
    yield {
      name: `engine.${size}.train_rss_mb`,
      value: megabytes,
      unit: "MB",
      backend,
      ...compare(megabytes, torch?.rss_mb),
    };
    yield decodeFigure(size, torch, limits?.all);
    if (size === "small") {
      const busy = median(besideNeighbour(() => train(size)).times);
      yield {
        name: `engine.${size}.train_neighbour_ratio`,
        value: busy / median(after.times),
        unit: "times",
        backend,
      };
    }
  }
  yield* forkFigures();
};
