import type { Benchmark, BenchmarkItem } from "./benchmark.js";

/** What stands behind `####`, without commas, as the reference takes it from GSM8K's solutions. */
function behindHashes(answer: BenchmarkItem["answer"]): string {
  const found = typeof answer === "string" ? /#### (-?[0-9.,]+)/.exec(answer)?.[1] : undefined;
  if (found === undefined) {
    throw new TypeError(`there must be a number behind "#### ", got ${JSON.stringify(answer)}`);
  }
  return found.replaceAll(",", "");
}

export const gsm8k: Benchmark = {
  name: "gsm8k",
  title: "GSM8K",
  task: "math",
  readAnswer: behindHashes,
};
