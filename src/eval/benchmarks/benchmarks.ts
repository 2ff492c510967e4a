import { packagePath } from "#platform/modules";
import { nearest } from "../../../common/options/nearest.js";
import type { Benchmark, LoadedBenchmark } from "./benchmark.js";
import { behindHashes, readBenchmark } from "./read-benchmark.js";

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

/** Where the synthetic stand-ins are. */
const shipped = packagePath("data/benchmarks");

/**
 * Generated questions in a benchmark's layout, for running every path offline. They ask about sums and
 * the invented world, asked and sampled as suits the tiny model: it was trained without a system message,
 * and must copy what it read, which a repetition penalty forbids.
 */
const standIn = (original: Benchmark): Benchmark => ({
  ...original,
  name: `${original.name}-lookalike`,
  title: `generated questions in the layout of ${original.title}`,
  imitates: original.name,
  folder: shipped,
  prompt: "none",
  sampling: { repetitionPenalty: 1 },
});

const known: readonly Benchmark[] = [...originals, ...originals.map(standIn)];

const registry = new Map(known.map((benchmark) => [benchmark.name, benchmark]));

/** @param name the benchmark's name */
function get(name: string): Benchmark {
  const found = registry.get(name);
  if (found) return found;
  const close = nearest(name, registry.keys());
  const hint = close === undefined ? "" : `; did you mean ${close}?`;
  throw new RangeError(
    `Cannot find a benchmark: the name must be one of ${[...registry.keys()].join(", ")}, got ${name}${hint}`,
  );
}

/**
 * The benchmarks by name: the reference's fourteen, a synthetic stand-in for each that is part of the
 * package (`aime24-lookalike`, …), and your own.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { benchmarks } from "arpo-lab/run";
 *
 * assert.equal(benchmarks.get("gaia").question, "Question");
 * assert.equal(benchmarks.standIns().length, 14);
 * const { items, benchmark } = await benchmarks.load("gsm8k-lookalike");
 * assert.match(items[0].question, /^What is /);
 * assert.equal(benchmark.imitates, "gsm8k");
 *
 * benchmarks.register({ name: "my-sums", title: "My sums", task: "math", folder: "my/data" });
 * assert.throws(() => benchmarks.get("my-sum"), /did you mean my-sums\?/);
 * ```
 */
export const benchmarks = {
  /**
   * Adds one of your own; its file is `FOLDER/NAME/test.jsonl`.
   * @param benchmark the benchmark to add
   */
  register(benchmark: Benchmark): void {
    const { name } = benchmark;
    if (!/^[\w][\w.-]*$/.test(name)) {
      throw new SyntaxError(
        `Cannot register a benchmark: the name must be letters, digits, "_", "." or "-", got ${JSON.stringify(name)}`,
      );
    }
    if (registry.has(name)) {
      throw new RangeError(`Cannot register a benchmark: the name must be new, got ${name}`);
    }
    registry.set(name, benchmark);
  },
  get,
  /** Every name, in the order of registration. */
  names: (): string[] => [...registry.keys()],
  /** The names of the synthetic stand-ins. */
  standIns: (): string[] =>
    [...registry.values()].flatMap(({ name, imitates }) => (imitates === undefined ? [] : [name])),
  /**
   * A benchmark with its questions, from the folder that holds `NAME/test.jsonl`.
   * @param name the benchmark's name
   */
  load: async (
    name: string,
    options: {
      /** The folder that holds `NAME/test.jsonl`. Default: none; stand-ins need none. */
      folder?: string;
    } = {},
  ): Promise<LoadedBenchmark> => readBenchmark(get(name), options),
};
