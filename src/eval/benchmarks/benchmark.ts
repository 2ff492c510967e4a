import type { Sampling } from "../../policy/policy.js";
import type { TaskType } from "../metrics/evaluate-item.js";
import type { PublishedFigure } from "./published.js";

/** One question of a benchmark, with what counts as right. */
export interface BenchmarkItem {
  /** Its place in the file, from 0. */
  index: number;
  question: string;
  /** A text, a number, or a list of which any one will do. */
  answer: string | number | (string | number)[];
  /** The whole line it was read from. */
  row: Readonly<Record<string, unknown>>;
}

/** Where a benchmark's questions are and how they are scored. */
export interface Benchmark {
  /** The folder's name, and what its result files begin with. */
  name: string;
  /** For people. */
  title: string;
  /** `math` compares expressions, `math-numeric` values, `qa` overlapping words. */
  task: TaskType;
  /** The key that holds the question. Default: `question`. */
  question?: string;
  /** The key that holds the answer. Default: `answer`. */
  answer?: string;
  /** Takes the answer out of what that key holds. Default: as it is. */
  readAnswer?: (answer: BenchmarkItem["answer"]) => BenchmarkItem["answer"];
  /** The prompt type its questions are asked with, unless an evaluation says otherwise. */
  prompt?: string;
  /** How its answers are sampled, unless an evaluation says otherwise. */
  sampling?: Sampling;
  /** The folder that holds the benchmark's own folder. Default: what an evaluation says. */
  folder?: string;
  /** What others published of it. */
  published?: readonly Omit<PublishedFigure, "benchmark">[];
  /** Set on generated questions: the benchmark they look like and must never be taken for. */
  imitates?: string;
}

/** A benchmark with its questions. */
export interface LoadedBenchmark {
  benchmark: Benchmark;
  items: readonly BenchmarkItem[];
  /** The file they come from, and the SHA-256 of its bytes. */
  path: string;
  sha256: string;
}
