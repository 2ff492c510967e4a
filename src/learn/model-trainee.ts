import type { Model } from "../model/transformer/transformer.js";
import type { AdamWState } from "../tensor/adamw.js";
import { tf } from "../tensor/tf.js";
import { ModelOptimizer, type StepSettings } from "./model-optimizer.js";
import { gatherFrom, passLogProbs, type PassRow, splitByTokens } from "./token-passes.js";
import type { RowMeasures, StepReport, StepWork, Trainee } from "./trainee.js";
import type { UpdateSettings } from "./update-settings.js";

/** ln p and entropy of every response token under a model as it is now. */
export async function measureRows(
  model: Model,
  rows: readonly PassRow[],
  settings: UpdateSettings,
): Promise<RowMeasures> {
  const { temperature } = settings;
  const out: RowMeasures = { logprobs: [], entropies: [] };
  for (const group of splitByTokens(rows, settings)) {
    const [logprobs, entropies] = tf.tidy(() => {
      const found = passLogProbs(model, group, { temperature, shared: settings.sharedPrefixes });
      return [found.logprobs, found.entropies];
    });
    out.logprobs.push(...gatherFrom(group, (await logprobs!.data()) as Float32Array));
    out.entropies.push(...gatherFrom(group, (await entropies!.data()) as Float32Array));
    tf.dispose([logprobs!, entropies!]);
  }
  return out;
}

/** A model in memory, with its optimiser. */
export class ModelTrainee implements Trainee {
  readonly #optimizer: ModelOptimizer;

  constructor(
    readonly model: Model,
    settings: StepSettings,
  ) {
    this.#optimizer = new ModelOptimizer(model, settings);
  }

  get steps(): number {
    return this.#optimizer.steps;
  }

  state(): Promise<AdamWState> {
    return this.#optimizer.state();
  }

  /** Frees the optimiser's averages; the model stays. */
  dispose(): void {
    this.#optimizer.dispose();
  }

  restore(state: AdamWState): void {
    this.#optimizer.restore(state);
  }

  measure(rows: readonly PassRow[], settings: UpdateSettings): Promise<RowMeasures> {
    return measureRows(this.model, rows, settings);
  }

  step<R extends PassRow>({
    passes,
    lossOf,
    seen,
    settings,
    now,
  }: StepWork<R>): Promise<StepReport> {
    const { temperature, checkpointing, sharedPrefixes: shared } = settings;
    return this.#optimizer.step(
      passes,
      (pass) =>
        lossOf(pass, passLogProbs(this.model, pass, { temperature, checkpointing, shared })),
      seen,
      now,
    );
  }
}
