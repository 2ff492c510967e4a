import { nearest } from "../../../spelling/nearest.js";
import type { Benchmark, LoadedBenchmark } from "./benchmark.js";
import { known } from "./known.js";
import { readBenchmark } from "./read-benchmark.js";

const registry = new Map(known.map((benchmark) => [benchmark.name, benchmark]));

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
 * The benchmarks by name: the reference's fourteen, a generated look-alike of each that ships with the
 * package (`aime24-lookalike`, …), and your own.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { benchmarks } from "arpo-lab/run";
 *
 * assert.equal(benchmarks.get("gaia").question, "Question");
 * assert.equal(benchmarks.lookAlikes().length, 14);
 * const { items, benchmark } = await benchmarks.load("gsm8k-lookalike");
 * assert.match(items[0].question, /^What is /);
 * assert.equal(benchmark.imitates, "gsm8k");
 *
 * benchmarks.register({ name: "my-sums", title: "My sums", task: "math", folder: "my/data" });
 * assert.throws(() => benchmarks.get("my-sum"), /did you mean my-sums\?/);
 * ```
 */
export const benchmarks = {
  /** Adds one of your own; its file is `FOLDER/NAME/test.jsonl`. */
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
  /** The names of the generated look-alikes. */
  lookAlikes: (): string[] =>
    [...registry.values()].flatMap(({ name, imitates }) => (imitates === undefined ? [] : [name])),
  /** A benchmark with its questions, from the folder that holds `NAME/test.jsonl`. */
  load: async (name: string, options: { folder?: string } = {}): Promise<LoadedBenchmark> =>
    readBenchmark(get(name), options),
};
