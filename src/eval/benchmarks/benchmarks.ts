import { packagePath } from "#platform/modules";
import { nearest } from "../../../common/options/nearest.js";
import { Registry } from "../../../common/options/registry.js";
import { twoWiki } from "./2wiki.js";
import { aime24 } from "./aime24.js";
import { aime25 } from "./aime25.js";
import { bamboogle } from "./bamboogle.js";
import { gaia } from "./gaia.js";
import { gsm8k } from "./gsm8k.js";
import { hle } from "./hle.js";
import { hotpotQa } from "./hotpotqa.js";
import { math } from "./math.js";
import { math500 } from "./math500.js";
import { musique } from "./musique.js";
import { simpleQa } from "./simple-qa.js";
import { webWalker } from "./webwalker.js";
import { xbench } from "./xbench.js";
import type { Benchmark, LoadedBenchmark } from "./benchmark.js";
import type { PublishedFigure } from "./published.js";
import { readBenchmark } from "./read-benchmark.js";

/** The reference's benchmarks, in its order. */
const originals: readonly Benchmark[] = [
  aime24,
  aime25,
  math500,
  math,
  gsm8k,
  hotpotQa,
  twoWiki,
  musique,
  bamboogle,
  webWalker,
  gaia,
  hle,
  simpleQa,
  xbench,
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
  published: [],
  name: `${original.name}-lookalike`,
  title: `generated questions in the layout of ${original.title}`,
  imitates: original.name,
  folder: shipped,
  prompt: "none",
  sampling: { repetitionPenalty: 1 },
});

const registry = new Registry<Benchmark>("benchmark", [...originals, ...originals.map(standIn)]);

/** @param name the benchmark's name */
function get(name: string): Benchmark {
  const found = registry.get(name);
  if (found) return found;
  const close = nearest(name, registry.names);
  const hint = close === undefined ? "" : `; did you mean ${close}?`;
  throw new RangeError(
    `Cannot find a benchmark: the name must be one of ${registry.names.join(", ")}, got ${name}${hint}`,
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
    registry.add(benchmark);
  },
  get,
  /** Every name, in the order of registration. */
  names: (): string[] => [...registry.names],
  /** The names of the synthetic stand-ins. */
  standIns: (): string[] =>
    registry.all.flatMap(({ name, imitates }) => (imitates === undefined ? [] : [name])),
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

/** The published figures of a benchmark: its own, or those of the one that is known under its name. */
export function publishedOf(benchmark: Pick<Benchmark, "name" | "published">): PublishedFigure[] {
  const { name, published = registry.get(name)?.published ?? [] } = benchmark;
  return published.map((figure) => ({ benchmark: name, ...figure }));
}

/** Every published figure. */
export const published: readonly PublishedFigure[] = originals.flatMap(publishedOf);
