import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { showAs, type Shown } from "../../show/show-as.js";
import type { BenchmarkReport } from "./benchmark-report.js";
import type { ScoredSample } from "./score-samples.js";
import type { EvaluationSettings } from "./evaluation-settings.js";
import { evaluationText, faultsOf } from "./evaluation-text.js";

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
  constructor(
    readonly settings: EvaluationSettings,
    readonly benchmarks: readonly BenchmarkReport[],
    /** In the order of benchmarks, turns and questions. */
    readonly samples: readonly ScoredSample[],
    /** What turns the samples' tokens into text. */
    readonly tokenizer?: Tokenizer,
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
    return this.benchmarks.flatMap(faultsOf);
  }

  /** Samples of one question of a benchmark, by turn. */
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
}
