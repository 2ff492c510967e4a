import { logged, showAs, type Shown } from "../../base/show/show-as.js";
import type { Trainer, TrainerStep } from "./trainer.js";

/**
 * A training run made in a cell: its steps stay open to be looked at.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tasks } from "arpo-lab/run";
 * import { Model } from "arpo-lab/model";
 * import { Policy } from "arpo-lab/policy";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 * import { TrainingRun, trainOn } from "arpo-lab/run";
 * import { ToolSet } from "arpo-lab/tools";
 *
 * const sizes = { vocabSize: 256, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const context = { contextLength: 128 };
 * const policy = Policy.fromModel(Model.init({ ...sizes, ...context }, 1), new CodePointTokenizer());
 * const options = { preset: "grpo", steps: 1, prompts: 1, n: 2, tools: new ToolSet() } as const;
 * const run = await trainOn(policy, tasks.calc({ train: 1, test: 1 }), { ...options, live: false });
 * assert.ok(run instanceof TrainingRun);
 * assert.equal(run.curve("critic/score/mean").length, 1);
 * assert.match(String(run), /^step\tscore\tentropy/);
 * policy.dispose();
 * ```
 */
export class TrainingRun {
  readonly steps: TrainerStep[] = [];
  /** Held-out figures by step. */
  readonly validation: { step: number; metrics: Record<string, number> }[] = [];
  /** The step it was stopped after, by the button on its page. */
  stoppedAt: number | undefined;

  /** @param trainer the trainer that does the steps */
  constructor(readonly trainer: Trainer) {}

  /**
   * One metric over the steps.
   * @param metric the metric's name
   */
  curve(metric: string): { step: number; value: number }[] {
    return this.steps.flatMap(({ step, metrics }) =>
      metrics[metric] === undefined ? [] : [{ step, value: metrics[metric] }],
    );
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const stopped = this.stoppedAt === undefined ? "" : `, stopped at step ${this.stoppedAt}`;
    return { group: "Runs", text: `${this.steps.length} steps${stopped}` };
  }

  /** A table of the steps. */
  toString(): string {
    const lines = this.steps.map(({ step, metrics }) =>
      [
        step,
        metrics["critic/score/mean"]?.toFixed(3),
        metrics["actor/entropy_loss"]?.toFixed(3),
        metrics["actor/pg_clipfrac"]?.toFixed(3),
        metrics["response_length/mean"]?.toFixed(1),
      ].join("\t"),
    );
    const held = this.validation.map(
      ({ step, metrics }) =>
        `step ${step}: ${Object.entries(metrics)
          .filter(([name]) => name.startsWith("val-core/"))
          .map(([name, value]) => `${name.split("/")[1]} ${value.toFixed(3)}`)
          .join(", ")}`,
    );
    return ["step\tscore\tentropy\tclipped\ttokens", ...lines, ...held].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("TrainingRun", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
