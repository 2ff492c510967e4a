import { checkOptions } from "../../arguments/check-options.js";
import { checkArguments } from "../../arguments/check-arguments.js";
import type { Demonstration } from "../../data/tasks/demonstrate.js";
import type { Model } from "../../model/transformer/transformer.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { exampleOf, type Example } from "./encode.js";
import { SftTrainer, sftRules, type SftOptions, type SftStep } from "./train.js";

/** What fine-tuning in a cell gave: one report per step. */
export class FineTuning {
  constructor(readonly steps: readonly SftStep[]) {}

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Runs", text: `fine-tuning, ${this.steps.length} steps` };
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    const first = this.steps[0];
    const last = this.steps[this.steps.length - 1];
    const text = last
      ? `${this.steps.length} steps, loss ${first!.loss.toFixed(3)} -> ${last.loss.toFixed(3)}`
      : "no step";
    return { "text/plain": text };
  }
}

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
  options: SftOptions & { onStep?: (step: SftStep) => void } = {},
): Promise<FineTuning> {
  checkArguments(
    "fine-tune",
    { policy, from },
    { policy: { model: "model", tokenizer: "tokenizer" }, from: "list" },
  );
  checkOptions("fine-tune", options, { ...sftRules, onStep: "function?" });
  const { onStep, ...how } = options;
  const examples = from.map((one) => ("ids" in one ? one : exampleOf(one, policy.tokenizer)));
  const steps: SftStep[] = [];
  for await (const step of new SftTrainer(policy.model, examples, how)) {
    steps.push(step);
    onStep?.(step);
  }
  return new FineTuning(steps);
}
