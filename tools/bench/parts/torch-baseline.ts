import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
// Compiled code lies in dist/tools/bench/parts; the script stays with the sources.
const script = fileURLToPath(
  new URL("../../../../tools/bench/baselines/torch_baseline.py", import.meta.url),
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

/** Whether the Python named by ARPO_LAB_PYTHON (or python3) runs this. */
export function pythonHas(code: string): boolean {
  return spawnSync(python, ["-c", code], { stdio: "ignore" }).status === 0;
}

export const torchIsThere = (): boolean => pythonHas("import torch, numpy");

/** What the baseline prints with these arguments. */
export function torchOutput(args: readonly string[]): unknown {
  const { status, stdout, stderr } = spawnSync(python, [script, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot run the PyTorch baseline: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

/** Runs the baseline at one size, with further arguments. */
export function runTorch(size: string, args: readonly string[] = []): TorchFigures {
  return torchOutput([size, ...args]) as TorchFigures;
}
