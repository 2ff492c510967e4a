import { checkOptions } from "../../../arguments/check-options.js";
import { checkArguments } from "../../../arguments/check-arguments.js";
import type { Demonstration } from "../../data/tasks/demonstrate.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { yieldToEventLoop } from "#platform/turns";
import { ProgressLine } from "../../show/progress-line.js";
import { showAs, type Shown, watchAs } from "../../show/show-as.js";
import { exampleOf, type Example } from "./encode.js";
import { SftTrainer, sftRules, type SftOptions, type SftStep } from "./train.js";

/** What fine-tuning in a cell gave: one report per step. */
export class FineTuning {
  /** The step it was stopped after, by the button on its page. */
  stoppedAt: number | undefined;

  constructor(
    readonly steps: readonly SftStep[],
    /** Steps that it was to have. */
    readonly totalSteps: number = steps.length,
  ) {}

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const stopped = this.stoppedAt === undefined ? "" : `, stopped at step ${this.stoppedAt}`;
    return { group: "Runs", text: `fine-tuning, ${this.steps.length} steps${stopped}` };
  }

  /** Its first and its last loss. */
  toString(): string {
    const first = this.steps[0];
    const last = this.steps[this.steps.length - 1];
    return last
      ? `${this.steps.length} steps, loss ${first!.loss.toFixed(3)} -> ${last.loss.toFixed(3)}`
      : "no step";
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("FineTuning", this);
  }
}

/** How a policy is fine-tuned in a cell. */
type FineTuneOptions = SftOptions & {
  onStep?: (step: SftStep) => void;
  /** Show the loss on a board while it continues, where a notebook looks. Default: true. */
  live?: boolean;
};

/**
 * Fine-tunes a policy in place on demonstrations or encoded examples.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fineTune } from "arpo-lab/learn";
 * import { Model } from "arpo-lab/model";
 * import { CodePointTokenizer } from "arpo-lab/experimental/testing";
 *
 * // Usually: await Policy.load("data/models/tiny"), and demonstrations of a family of tasks.
 * const sizes = { vocabSize: 12, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
 * const policy = { model: Model.init(sizes, 1), tokenizer: new CodePointTokenizer() };
 * const { steps } = await fineTune(policy, [{ ids: [1, 2, 3], labels: [-100, 2, 3] }], { epochs: 2 });
 * assert.equal(steps.length, 2);
 * ```
 */
export async function fineTune(
  policy: { readonly model: Model; readonly tokenizer: Tokenizer },
  from: readonly (Demonstration | Example)[],
  options: FineTuneOptions = {},
): Promise<FineTuning> {
  checkArguments(
    "fine-tune",
    { policy, from },
    { policy: { model: "model", tokenizer: "tokenizer" }, from: "list" },
  );
  checkOptions("fine-tune", options, { ...sftRules, onStep: "function?", live: "boolean?" });
  const { onStep, live = true, ...how } = options;
  const examples = from.map((one) => ("ids" in one ? one : exampleOf(one, policy.tokenizer)));
  const trainer = new SftTrainer(policy.model, examples, how);
  const { totalSteps } = trainer;
  const steps: SftStep[] = [];
  const tuning = new FineTuning(steps, totalSteps);
  const shown = live ? watchAs("FineTuning", tuning) : undefined;
  const line = new ProgressLine();
  const tell = (done: number) => {
    const progress = { step: done + 1, totalSteps, progress: done / totalSteps };
    shown?.tell?.(line.tell({ ...progress, doing: "updating" }));
  };
  try {
    tell(how.resume?.step ?? 0);
    for await (const step of trainer) {
      const done = step.step + 1;
      steps.push(step);
      shown?.step();
      onStep?.(step);
      // The page's Stop button is heard between two steps.
      if (shown) await yieldToEventLoop();
      if (done === totalSteps) continue;
      if (shown?.stopping) {
        tuning.stoppedAt = done;
        break;
      }
      tell(done);
    }
  } finally {
    shown?.done();
  }
  return tuning;
}
