import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
// Compiled code lies in dist/bench/parts; the script stays with the sources.
const script = fileURLToPath(
  new URL("../../../bench/baselines/torch_baseline.py", import.meta.url),
);

/** What the PyTorch baseline prints for one size. */
export interface TorchFigures {
  version: string;
  train_ms: number;
  /** CPU time of the fastest step. */
  train_cpu_ms: number;
  decode_tok_s: number;
  rss_mb: number;
}

/** Whether the Python named by ARPO_LAB_PYTHON (or python3) has PyTorch. */
export function torchIsThere(): boolean {
  return spawnSync(python, ["-c", "import torch, numpy"], { stdio: "ignore" }).status === 0;
}

/** Runs the baseline at one size, with further arguments. */
export function runTorch(size: string, args: readonly string[] = []): TorchFigures {
  const { status, stdout, stderr } = spawnSync(python, [script, size, ...args], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot run the PyTorch baseline: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as TorchFigures;
}
