import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { logged, showAs, type Shown } from "../../base/show/show-as.js";
import type { BenchmarkReport } from "./benchmark-report.js";
import type { ScoredSample } from "./score-samples.js";

/** What an evaluation was made with: enough to make it again. */
export interface EvaluationSettings {
  policy: string;
  /** What tells the policy's weights from others, where it is known. */
  weights?: string;
  /** How the questions were asked; nothing of it is known of answers that were read from files. */
  seed?: number;
  mode?: "completion" | "default";
  asReference?: boolean;
  maxTokens?: number;
  chained?: number;
  timeoutMs?: number;
  limits?: Record<string, number>;
  /** Tags of the tools. */
  tools?: string[];
  judge?: string;
  /** Predictions that a file did not hold and that were taken out of its outputs. */
  extracted?: number;
  /** By benchmark: what its questions were asked with. */
  asked: Record<string, { prompt: string; sampling: Record<string, unknown>; sha256: string }>;
}

const share = (x: number) => (Number.isNaN(x) ? "-" : (100 * x).toFixed(1));
const range = ({ low, high }: { low: number; high: number }) => `${share(low)} - ${share(high)}`;

/** What accuracy is the mean of; equal by value is not the reference's equal. */
const byWhat = ({ accuracy: { of }, task }: BenchmarkReport) =>
  of === "math_equal" && task === "math-numeric" ? "math-numeric" : of;

/** The columns of the table, a value per benchmark. */
export function columnsOf(
  reports: readonly BenchmarkReport[],
): { title: string; doc: string; cell: (report: BenchmarkReport) => string }[] {
  const most = Math.max(0, ...reports.map(({ passAt }) => passAt.length));
  const tags = [...new Set(reports.flatMap(({ tools }) => Object.keys(tools)))].sort();
  const made = (r: BenchmarkReport) => r.questions * r.samplesPerQuestion - r.status.error;
  return [
    { title: "benchmark", doc: "Its folder's name.", cell: (r) => r.name },
    {
      title: "questions",
      doc: "Questions, times samples of each.",
      cell: (r) => `${r.questions} x ${r.samplesPerQuestion}`,
    },
    {
      title: "accuracy",
      doc: "Per cent: the judge's verdicts where there is one, else equal expressions (math) or F1 (qa).",
      cell: (r) => share(r.accuracy.value),
    },
    { title: "by", doc: "What accuracy is the mean of.", cell: byWhat },
    {
      title: "95%",
      doc: "Wilson's interval over the questions.",
      cell: (r) => (Number.isNaN(r.accuracy.value) ? "-" : range(r.accuracy)),
    },
    ...Array.from({ length: most }, (_, i) => ({
      title: `pass@${i + 1}`,
      doc: "The unbiased chance that one of k samples is right, and its interval.",
      cell: ({ passAt }: BenchmarkReport) =>
        passAt[i] ? `${share(passAt[i].value)} (${range(passAt[i])})` : "-",
    })),
    { title: "EM", doc: "Per cent of equal answers.", cell: (r) => share(r.summary.em) },
    { title: "F1", doc: "Overlap of words, per cent.", cell: (r) => share(r.summary.f1) },
    {
      title: "calls",
      doc: "Tool calls written per sample.",
      cell: (r) => r.summary.tool_call.toFixed(2),
    },
    ...tags.map((tag) => ({
      title: tag,
      doc: `Calls per sample that reached ${tag}.`,
      cell: (r: BenchmarkReport) =>
        made(r) === 0 ? "-" : ((r.tools[tag]?.calls ?? 0) / made(r)).toFixed(2),
    })),
    {
      title: "productivity",
      doc: "100 x accuracy x calls / (calls + 0.1).",
      cell: (r) => r.summary.tool_productivity.toFixed(1),
    },
    { title: "valid", doc: "Samples with a prediction.", cell: (r) => r.summary.num_valid_answer },
  ];
}

/** What went wrong in the machinery, in words; nothing of it is counted as a wrong answer. */
export function faultsOf(report: BenchmarkReport): string[] {
  const { status, judgeFailures, tools, name } = report;
  const samples = (n: number) => `${n} ${n === 1 ? "sample" : "samples"}`;
  const failed = Object.entries(tools).filter(([, use]) => use.failed > 0);
  return [
    ...(status.error > 0
      ? [
          `${name}: ${samples(status.error)} could not be made (left out of every figure); run the same command again to make up for it.`,
        ]
      : []),
    ...(status.timeout > 0 ? [`${name}: ${samples(status.timeout)} ran out of time.`] : []),
    ...(status.context > 0
      ? [`${name}: ${samples(status.context)} filled the model's context before an answer.`]
      : []),
    ...(judgeFailures > 0
      ? [
          `${name}: ${judgeFailures} verdicts could not be had; equal expressions stand in for them.`,
        ]
      : []),
    ...failed.map(
      ([tag, { failed: count, calls }]) => `${name}: ${count} of ${calls} calls of ${tag} failed.`,
    ),
  ];
}

/**
 * The published figures in words: beside the evaluation's own where the same was measured on the whole
 * set, else as what they are, with what was measured otherwise.
 */
export function comparisonOf(report: BenchmarkReport): string[] {
  return report.published.map(({ model, algorithm, k, value, source, benchmark, unlike }) => {
    const own = unlike.length === 0 ? report.passAt.find((p) => p.k === k) : undefined;
    const theirs = `${algorithm} with ${model} ${value.toFixed(1)} (${source})`;
    if (!own) return `${benchmark} pass@${k}: ${theirs}; not comparable: ${unlike.join(", ")}`;
    return `${benchmark} pass@${k}: here ${share(own.value)} (${range(own)}); ${theirs}`;
  });
}

/** Whose answers they are, and who judged them. */
export function madeBy(settings: EvaluationSettings): string {
  const { policy, seed, judge, extracted } = settings;
  const drawn = seed === undefined ? "" : `, seed ${seed}`;
  const taken =
    extracted === undefined
      ? ""
      : `, ${extracted} ${extracted === 1 ? "prediction" : "predictions"} taken out of the outputs`;
  return `${policy}${drawn}${taken}, ${judge === undefined ? "no judge" : `judged by ${judge}`}`;
}

/** An evaluation as a table of text; the same evaluation gives the same text. */
function evaluationText({ benchmarks, settings, notice, faults }: Evaluation): string {
  const columns = columnsOf(benchmarks);
  const rows = [
    columns.map(({ title }) => title),
    ...benchmarks.map((report) => columns.map(({ cell }) => cell(report))),
  ];
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
  return [
    notice,
    `${madeBy(settings)}; shares in per cent, with 95% intervals`,
    "",
    ...lines,
    ...section("Faults", faults),
    ...section("Published figures", benchmarks.flatMap(comparisonOf)),
  ].join("\n");
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];

/**
 * What a policy did on some benchmarks: figures, and every sample they come from. Shows itself as a
 * report.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { evaluate } from "arpo-lab/run";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const policy = new ScriptedPolicy(() => ({ text: "<answer>\\boxed{520}</answer>" }));
 * const evaluation = await evaluate(policy, "aime24-lookalike");
 * assert.match(evaluation.notice, /^Synthetic stand-ins, not the benchmarks/);
 * const { accuracy, passAt } = evaluation.benchmarks[0];
 * assert.equal(accuracy.value, 1 / 12);
 * assert.equal(passAt[0].k, 1);
 * ```
 */
export class Evaluation {
  /**
   * @param settings what the evaluation was asked to do
   * @param benchmarks the results, one per benchmark
   */
  constructor(
    readonly settings: EvaluationSettings,
    readonly benchmarks: readonly BenchmarkReport[],
    /** In the order of benchmarks, turns and questions. */
    readonly samples: readonly ScoredSample[],
    /** What turns the samples' tokens into text. */
    readonly tokenizer?: Tokenizer,
    /** How many answers there were when it was stopped, by the button on its page. */
    readonly stoppedAt?: { answers: number; of: number },
  ) {}

  /** The first line of every report: what these figures are figures of. */
  get notice(): string {
    const alike = this.benchmarks.filter(({ imitates }) => imitates !== undefined);
    if (alike.length === 0) return `Evaluation of ${this.settings.policy}`;
    const warning = "must not be compared with figures of the real ones";
    return alike.length === this.benchmarks.length
      ? `Synthetic stand-ins, not the benchmarks they are laid out like: these figures ${warning}.`
      : `${alike.map(({ name }) => name).join(", ")}: synthetic stand-ins, not the benchmarks; their figures ${warning}.`;
  }

  /** What went wrong in the machinery, in words; nothing of it is counted as a wrong answer. */
  get faults(): string[] {
    const { stoppedAt: at, benchmarks } = this;
    const stopped = at ? [`It was stopped after ${at.answers} of ${at.of} answers.`] : [];
    return [...stopped, ...benchmarks.flatMap(faultsOf)];
  }

  /**
   * Samples of one question of a benchmark, by turn.
   * @param benchmark the benchmark's name
   * @param index the question's number, from 0
   */
  samplesOf(benchmark: string, index: number): ScoredSample[] {
    return this.samples.filter((s) => s.benchmark === benchmark && s.index === index);
  }

  /** The report as a table of text. */
  toString(): string {
    return evaluationText(this);
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: "an evaluation" };
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("Evaluation", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
