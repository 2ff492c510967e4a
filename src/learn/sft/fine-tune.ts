import type { Demonstration } from "../../data/index.js";
import type { Model, Tokenizer } from "../../model/index.js";
import { exampleOf } from "./demonstration-example.js";
import type { Example } from "./encode.js";
import { SftTrainer, type SftOptions, type SftStep } from "./train.js";

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

/** Fine-tunes a policy in place on demonstrations or encoded examples. */
export async function fineTune(
  policy: { readonly model: Model; readonly tokenizer: Tokenizer },
  from: readonly (Demonstration | Example)[],
  options: SftOptions & { onStep?: (step: SftStep) => void } = {},
): Promise<FineTuning> {
  const examples = from.map((one) => ("ids" in one ? one : exampleOf(one, policy.tokenizer)));
  const steps: SftStep[] = [];
  for await (const step of new SftTrainer(policy.model, examples, options)) {
    steps.push(step);
    options.onStep?.(step);
  }
  return new FineTuning(steps);
}
