import { tellTerminal } from "../../base/show/tell-terminal.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { fetchWeights } from "../../model/decoder/of-model.js";
import { setWeightPrecision } from "../../model/precision/set-weight-precision.js";
import type { Model } from "../../model/transformer/transformer.js";
import { AdamW, type AdamWOptions, type AdamWReport, type AdamWState } from "../../tensor/adamw.js";
import { gradientsOf } from "../../tensor/gradients.js";
import { tf } from "../../tensor/tf.js";
import {
  type PassLogProbs,
  type PassSequence,
  gatherFrom,
  passLogProbs,
  splitByTokens,
} from "./passes.js";
import { comparesDistributions } from "../distillation/options.js";
import type { UpdateSettings } from "./update-settings.js";

/** What is measured of trajectories: one list per trajectory, one number per response token. */
export interface SequenceMeasures {
  logprobs: Float32Array[];
  /** Of the whole distribution; where nobody says it, what stands for it. */
  entropies: Float32Array[];
  /** ln p of the whole vocabulary at each token, one after another, where they are asked for. */
  distributions?: Float32Array[];
}

/** What one optimiser step did. */
export interface StepReport {
  /** The gradient's norm before clipping; NaN where it is not said. */
  norm: number;
  /** Nothing was changed: the gradient was not finite. */
  skipped: boolean;
  /** Figures of its own, under the names they are reported by. */
  figures?: Readonly<Record<string, number>>;
}

/** One optimiser step, in as many passes as memory asks for. */
export interface StepWork<R extends PassSequence> {
  passes: readonly R[][];
  /** What a pass minimises, given what the trajectories' tokens are worth. Called inside a tidy. */
  lossOf: (pass: R[], found: PassLogProbs) => PassLoss;
  /** Told each pass's figures. */
  seen: (pass: R[], figures: Record<string, Float32Array>) => void;
  settings: UpdateSettings;
  now: StepSettings;
}

/**
 * What an update trains, wherever it is: it says how likely trajectories' tokens are, and moves along the
 * gradient of a loss of that. A model in memory is one; a model at a server another.
 */
export interface Trainee {
  /** Optimiser steps taken. */
  readonly steps: number;
  /** Refuses settings that it cannot follow. */
  check?(settings: UpdateSettings): void;
  measure(sequences: readonly PassSequence[], settings: UpdateSettings): Promise<SequenceMeasures>;
  step<R extends PassSequence>(work: StepWork<R>): Promise<StepReport>;
}

type Named = Record<string, tf.Tensor>;

/** Adds gradients to a running sum; the tensors that are no longer needed are freed. */
export function accumulate(sum: Named | undefined, more: Named): Named {
  if (!sum) return more;
  const out: Named = { ...sum };
  for (const [name, gradient] of Object.entries(more)) {
    const before = sum[name];
    out[name] = before ? before.add(gradient) : gradient;
    if (before) tf.dispose([before, gradient]);
  }
  return out;
}

/** The loss of one pass, and what should be read of it once it is computed. */
export interface PassLoss {
  loss: tf.Tensor;
  /** Numbers to hand to `seen`, by name. */
  figures: Record<string, tf.Tensor>;
}

/** What one optimiser step may choose for itself. */
type StepSettings = Required<Pick<AdamWOptions, "learningRate" | "weightDecay" | "maxNorm">>;

/**
 * A model with its optimiser, which moves the adapters alone where there are some: one step is made
 * from the summed gradients of as many passes as memory asks for.
 */
export class ModelOptimizer {
  readonly #adamw: AdamW;
  readonly #trained: ReadonlyMap<string, tf.Variable>;

  constructor(
    readonly model: Model,
    { learningRate, weightDecay, maxNorm }: StepSettings,
  ) {
    this.#trained = model.trainable;
    this.#adamw = new AdamW(this.#trained, { learningRate, weightDecay, maxNorm });
  }

  /** Steps taken; skipped ones do not count. */
  get steps(): number {
    return this.#adamw.steps;
  }

  get learningRate(): number {
    return this.#adamw.options.learningRate;
  }

  /** Frees the averages; the model stays. */
  dispose(): void {
    this.#adamw.dispose();
  }

  state(): Promise<AdamWState> {
    return this.#adamw.state();
  }

  restore(state: AdamWState): void {
    this.#adamw.restore(state);
  }

  /**
   * One step along the sum of the passes' losses; `seen` is told each pass's figures, and `now` lays
   * this step's settings over the optimiser's.
   */
  async step<P>(
    passes: readonly P[],
    lossOf: (pass: P) => PassLoss,
    seen: (pass: P, figures: Record<string, Float32Array>) => void,
    now: Partial<StepSettings> = {},
  ): Promise<AdamWReport> {
    if (this.model.trainable !== this.#trained) {
      throw new TypeError(
        "Cannot train: adapters must be added before the optimiser is made, got some added since",
      );
    }
    let sum: Record<string, tf.Tensor> | undefined;
    for (const [i, pass] of passes.entries()) {
      tellTerminal(() => `updating: pass ${i + 1} of ${passes.length}`);
      const kept: Record<string, tf.Tensor> = {};
      const { value, gradients } = gradientsOf(() => {
        const { loss, figures } = lossOf(pass);
        for (const [name, figure] of Object.entries(figures)) kept[name] = tf.keep(figure.clone());
        return loss.asScalar();
      }, this.#trained);
      sum = accumulate(sum, gradients);
      // All at once: a GPU is waited for once.
      const read = Object.fromEntries(
        await Promise.all(
          Object.entries(kept).map(
            async ([name, figure]) => [name, (await figure.data()) as Float32Array] as const,
          ),
        ),
      );
      tf.dispose([value, ...Object.values(kept)]);
      seen(pass, read);
    }
    const report = await this.#adamw.step(sum ?? {}, now);
    if (sum) tf.dispose(sum);
    const { weightPrecision, weights } = this.model;
    if (weightPrecision !== "float32" && this.#trained === weights && !report.skipped) {
      await setWeightPrecision(this.model, weightPrecision, this.steps);
    }
    this.model.changed();
    await fetchWeights(this.model);
    return report;
  }
}

/** ln p and entropy of every response token under a model as it is now. */
export async function measureSequences(
  model: Model,
  sequences: readonly PassSequence[],
  settings: UpdateSettings,
): Promise<SequenceMeasures> {
  const { temperature, samplingMask } = settings;
  const out: SequenceMeasures = { logprobs: [], entropies: [] };
  for (const group of splitByTokens(sequences, settings)) {
    const [logprobs, entropies] = tf.tidy(() => {
      const shared = settings.sharedPrefixes;
      const found = passLogProbs(model, group, { temperature, shared, samplingMask });
      return [found.logprobs, found.entropies];
    });
    out.logprobs.push(...gatherFrom(group, (await logprobs!.data()) as Float32Array));
    out.entropies.push(...gatherFrom(group, (await entropies!.data()) as Float32Array));
    tf.dispose([logprobs!, entropies!]);
  }
  return out;
}

/** What whole distributions of a batch may take, in bytes. */
const mostBytes = 2 ** 31;

/** The same with the whole distributions, which stay in memory until the update is over. */
export async function measureDistributions(
  model: Model,
  sequences: readonly PassSequence[],
  settings: UpdateSettings,
): Promise<SequenceMeasures> {
  const { temperature, sharedPrefixes: shared, samplingMask } = settings;
  const { vocabSize } = model.config;
  const tokens = sequences.reduce((sum, { trajectory }) => sum + trajectory.tokens.length, 0);
  if (tokens * vocabSize * 4 > mostBytes) {
    throw new RangeError(
      `Cannot update: whole distributions must take at most 2 GiB, got ${tokens} tokens of ${vocabSize} numbers each; give fewer trajectories at once, or compare sampled tokens (distillationKind k2)`,
    );
  }
  const out: SequenceMeasures = { logprobs: [], entropies: [], distributions: [] };
  for (const group of splitByTokens(sequences, settings)) {
    let places: ArrayLike<number> = [];
    const kept = tf.tidy(() => {
      const found = passLogProbs(model, group, { temperature, shared, samplingMask, whole: true });
      places = found.distributions!.places;
      return [found.logprobs, found.entropies, found.distributions!.logprobs];
    });
    const [logprobs, entropies, whole] = (await Promise.all(
      kept.map((tensor) => tensor.data()),
    )) as Float32Array[];
    tf.dispose(kept);
    out.logprobs.push(...gatherFrom(group, logprobs!));
    out.entropies.push(...gatherFrom(group, entropies!));
    const time = places.length / group.length;
    group.forEach(({ trajectory }, r) => {
      const own = new Float32Array(trajectory.tokens.length * vocabSize);
      trajectory.tokens.forEach((_, t) => {
        const at = places[r * time + trajectory.prompt.length - 1 + t]! * vocabSize;
        own.set(whole!.subarray(at, at + vocabSize), t * vocabSize);
      });
      out.distributions!.push(own);
    });
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

  measure(sequences: readonly PassSequence[], settings: UpdateSettings): Promise<SequenceMeasures> {
    return measureSequences(this.model, sequences, settings);
  }

  step<R extends PassSequence>({
    passes,
    lossOf,
    seen,
    settings,
    now,
  }: StepWork<R>): Promise<StepReport> {
    const { temperature, checkpointing, sharedPrefixes: shared, samplingMask } = settings;
    const whole = comparesDistributions(settings);
    return this.#optimizer.step(
      passes,
      (pass) =>
        lossOf(
          pass,
          passLogProbs(this.model, pass, {
            temperature,
            checkpointing,
            shared,
            whole,
            samplingMask,
          }),
        ),
      seen,
      now,
    );
  }
}

/** Something that can be trained: it has its model here, or its trainee elsewhere. */
export type Trainable = { readonly model: Model } | { readonly trainee: Trainee };

const isTrainee = (value: unknown): value is Trainee =>
  typeof value === "object" && value !== null && "measure" in value && "step" in value;

/** What an update works on: a trainee as it is, a model with an optimiser. */
export function traineeOf(trained: Model | Trainee, settings: StepSettings): Trainee {
  if (isTrainee(trained)) return trained;
  checkArguments("update", { model: trained }, { model: "model" });
  return new ModelTrainee(trained, settings);
}

/** What of a policy is trained. */
export function trainedOf(policy: Trainable): Model | Trainee {
  return "trainee" in policy ? policy.trainee : policy.model;
}
