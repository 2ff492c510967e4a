// The tensor engine at the sizes of the PyTorch baseline: one training step and its memory, decoding, what
// a busy neighbour and what forks cost. Training runs in a process of its own, in turns with the baseline.
import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Benchmark } from "./figure.js";
import { decodeFigure, forkFigures } from "./parts/decode-figures.js";
import { engineSizes, type EngineSize } from "./parts/engine-sizes.js";
import { runTorch, torchIsThere } from "./parts/torch-baseline.js";

interface Training {
  backend: string;
  times: number[];
  megabytes: number;
}

function train(size: EngineSize): Training {
  const part = fileURLToPath(new URL("parts/engine-train.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [part, size], {
    encoding: "utf8",
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
      ...compare(value, torch?.train_ms),
    };
    const megabytes = Math.max(before.megabytes, after.megabytes);
    yield {
      name: `engine.${size}.train_rss_mb`,
      value: megabytes,
      unit: "MB",
      backend,
      ...compare(megabytes, torch?.rss_mb),
    };
    yield decodeFigure(size, torch);
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
