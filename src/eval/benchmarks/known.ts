import { packagePath } from "#platform/package-path";
import type { Benchmark } from "./benchmark.js";
import { behindHashes } from "./read-benchmark.js";

/** The reference's benchmarks: folder names, keys and kinds as its evaluation has them. */
const originals: readonly Benchmark[] = [
  { name: "aime24", title: "AIME 2024", task: "math" },
  { name: "aime25", title: "AIME 2025", task: "math", question: "problem" },
  { name: "math500", title: "MATH500", task: "math" },
  { name: "math", title: "MATH", task: "math", question: "problem" },
  { name: "gsm8k", title: "GSM8K", task: "math", readAnswer: behindHashes },
  { name: "hotpotqa", title: "HotpotQA", task: "qa" },
  { name: "2wiki", title: "2WikiMultihopQA", task: "qa" },
  { name: "musique", title: "MuSiQue", task: "qa" },
  { name: "bamboogle", title: "Bamboogle", task: "qa" },
  { name: "webwalker", title: "WebWalkerQA", task: "qa" },
  { name: "gaia", title: "GAIA", task: "qa", question: "Question" },
  { name: "hle", title: "Humanity's Last Exam", task: "qa" },
  { name: "SimpleQA", title: "SimpleQA", task: "qa" },
  { name: "xbench", title: "xbench-DeepSearch", task: "qa" },
];

/** Where the generated look-alikes are. */
const shipped = packagePath("data/benchmarks");

/**
 * Generated questions in a benchmark's layout, for running every path offline. They ask about sums and
 * the invented world, asked and sampled as suits the tiny model: it was trained without a system message,
 * and must copy what it read, which a repetition penalty forbids.
 */
const lookAlike = (original: Benchmark): Benchmark => ({
  ...original,
  name: `${original.name}-lookalike`,
  title: `generated questions in the layout of ${original.title}`,
  imitates: original.name,
  folder: shipped,
  prompt: "none",
  sampling: { repetitionPenalty: 1 },
});

export const known: readonly Benchmark[] = [...originals, ...originals.map(lookAlike)];
