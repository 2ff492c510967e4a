import { defined } from "../../../common/options/defined.js";
import type { Benchmark, LoadedBenchmark } from "../benchmarks/benchmark.js";
import { publishedOf } from "../benchmarks/benchmarks.js";
import type { SampleStatus } from "../infer/sample.js";
import { type MeanMetrics, meanMetrics, type TaskType } from "../metrics/evaluate-item.js";
import { type Interval, meanInterval } from "../metrics/interval.js";
import { passAtK } from "../metrics/pass-at-k.js";
import type { PublishedFigure } from "../benchmarks/published.js";
import { isRight, type ScoredSample, wasMade } from "./score-samples.js";

/** A published figure, and why it may not stand beside ours. */
interface BesidePublished extends PublishedFigure {
  /** What was measured otherwise here, in words; empty where the two may be compared. */
  unlike: string[];
}

/** What a figure of ours was measured on, and how. */
interface Measured {
  judged: boolean;
  /** Questions that were asked, and those of the set where that is known. */
  questions: number;
  setSize?: number;
  /** Samples that could not be made, and verdicts that could not be had. */
  missing: number;
  unjudged: number;
  /** Samples of each question. */
  samples: number;
}

function differences(figure: PublishedFigure, own: Measured): string[] {
  const { judged, questions, setSize, missing, unjudged, samples } = own;
  const of = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
  return [
    ...(judged ? [] : ["a judge decided there, none was asked here"]),
    ...(setSize === undefined ? ["how many questions the whole set has is not known here"] : []),
    ...(setSize !== undefined && questions < setSize
      ? [`${questions} of ${of(setSize, "question")} were asked here`]
      : []),
    ...(missing > 0 ? [`${of(missing, "sample")} could not be made here`] : []),
    ...(unjudged > 0 ? [`${of(unjudged, "verdict")} could not be had here`] : []),
    ...(samples < figure.k ? [`pass@${figure.k} was not measured here`] : []),
  ];
}

/** The published figures of a benchmark, each with what was otherwise there. */
function besidePublished(benchmark: Benchmark, own: Measured): BesidePublished[] {
  return publishedOf(benchmark).map((figure) => ({ ...figure, unlike: differences(figure, own) }));
}

/** How one tool was used in the samples of a benchmark. */
interface ToolUse {
  /** Calls that reached the tool. */
  calls: number;
  /** Of those, how many failed: a matter of the machinery, not of the model. */
  failed: number;
  /** Calls that a limit refused, and searches that were there before. */
  limited: number;
  repeated: number;
}

/** The figures of one benchmark. */
export interface BenchmarkReport {
  name: string;
  title: string;
  /** The benchmark it only looks like. */
  imitates?: string;
  task: TaskType;
  sha256: string;
  questions: number;
  samplesPerQuestion: number;
  /** How many samples ended in which way; `error` ones are left out of every figure. */
  status: Record<SampleStatus, number>;
  /** Verdicts that could not be had from the judge; string equivalence stands in for them. */
  judgeFailures: number;
  accuracy: Interval & { of: "math_equal" | "f1" | "llm_equal" };
  /** Over the questions that have at least k samples. */
  passAt: (Interval & { k: number; questions: number })[];
  summary: MeanMetrics;
  /** The same for each turn, as the reference counts. */
  turns: MeanMetrics[];
  tools: Record<string, ToolUse>;
  /** What others published of it; which of it may stand beside these figures, each says. */
  published: BesidePublished[];
}

function toolsOf(samples: readonly ScoredSample[]): Record<string, ToolUse> {
  const tools: Record<string, ToolUse> = {};
  for (const { steps } of samples) {
    for (const step of steps) {
      if (step.kind !== "result") continue;
      const use = (tools[step.tool.tag] ??= { calls: 0, failed: 0, limited: 0, repeated: 0 });
      if (step.rule === "limit") use.limited++;
      else if (step.rule === "repeated") use.repeated++;
      else {
        use.calls++;
        if (!step.tool.ok) use.failed++;
      }
    }
  }
  return Object.fromEntries(Object.entries(tools).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Samples by question, in the order of the questions. */
export function byQuestion<T extends { index: number }>(samples: readonly T[]): T[][] {
  const groups = new Map<number, T[]>();
  for (const sample of samples) {
    const group = groups.get(sample.index);
    if (group) group.push(sample);
    else groups.set(sample.index, [sample]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

/** What the samples of a benchmark come to. */
export function benchmarkReport(
  loaded: Pick<LoadedBenchmark, "benchmark" | "sha256"> & Partial<Pick<LoadedBenchmark, "items">>,
  samples: readonly ScoredSample[],
  options: { judged: boolean },
): BenchmarkReport {
  const { benchmark, sha256, items } = loaded;
  const { judged } = options;
  const { name, title, imitates, task } = benchmark;
  const made = samples.filter(wasMade);
  const groups = byQuestion(made);
  const turns = Math.max(0, ...samples.map(({ turn }) => turn));
  const summaryOf = (some: readonly ScoredSample[]) =>
    meanMetrics(
      some.map(({ metrics }) => metrics),
      { task, judged },
    );
  const of = judged ? "llm_equal" : task === "qa" ? "f1" : "math_equal";
  const means = groups.map(
    (group) => group.reduce((sum, { metrics }) => sum + (metrics[of] ?? 0), 0) / group.length,
  );
  const passAt = Array.from({ length: turns }, (_, i) => i + 1).flatMap((k) => {
    const enough = groups.filter((group) => group.length >= k);
    if (enough.length === 0) return [];
    const values = enough.map((group) =>
      passAtK({ n: group.length, correct: group.filter(isRight).length, k }),
    );
    return [{ k, questions: enough.length, ...meanInterval(values) }];
  });
  const count = (status: SampleStatus) => samples.filter((s) => s.status === status).length;
  const questions = byQuestion(samples).length;
  const judgeFailures = samples.filter(({ judge_error }) => judge_error !== undefined).length;
  return {
    name,
    title,
    ...defined({ imitates }),
    task,
    sha256,
    questions,
    samplesPerQuestion: turns,
    status: {
      answered: count("answered"),
      unanswered: count("unanswered"),
      timeout: count("timeout"),
      context: count("context"),
      error: count("error"),
    },
    judgeFailures,
    accuracy: { of, ...meanInterval(means) },
    passAt,
    summary: summaryOf(made),
    turns: Array.from({ length: turns }, (_, i) =>
      summaryOf(made.filter(({ turn }) => turn === i + 1)),
    ),
    tools: toolsOf(made),
    // A stand-in is not the benchmark: nothing is comparable.
    published:
      imitates === undefined
        ? besidePublished(benchmark, {
            ...{ judged, questions, samples: turns, unjudged: judgeFailures },
            missing: count("error"),
            ...(items === undefined ? {} : { setSize: items.length }),
          })
        : [],
  };
}
