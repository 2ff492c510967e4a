import { clipBounds } from "../../learn/losses/base/options.js";
import { lossOf } from "../../learn/losses/registry.js";
import {
  gatherFrom,
  type PassLogProbs,
  type PassSequence,
  splitByTokens,
  spreadOver,
} from "../../learn/update/passes.js";
import type {
  PassLoss,
  SequenceMeasures,
  StepReport,
  StepWork,
  Trainee,
} from "../../learn/update/trainee.js";
import type { UpdateOptions, UpdateSettings } from "../../learn/update/update-settings.js";
import { gradientsOf } from "../../tensor/gradients.js";
import { tf } from "../../tensor/tf.js";
import { capabilitiesOf, type TinkerCapabilities } from "./capabilities.js";
import { TinkerError, TinkerLostAnswer } from "./client/errors.js";
import type { TinkerAdam, TinkerDatum, TinkerLoss, TinkerRun } from "./client/tinker-run.js";
import {
  exactGradient,
  type GradientSequence,
  movingSequences,
  ratioSequence,
} from "./gradient-sequences.js";
import {
  laidOut,
  ownPart,
  readRow,
  shifted,
  surprisals,
  type TokenSequence,
} from "./token-sequences.js";

/** The figures of a pass's loss, and its gradient with respect to each response token's ln p. */
interface LossGradient {
  gradients: Float32Array[];
  figures: Record<string, Float32Array>;
}

/**
 * dL/dlogp of a loss at given log-probabilities, by sequence. Where entropies are asked for, surprisals stand
 * for them, without a gradient.
 */
async function lossGradient<R extends PassSequence>(
  sequences: R[],
  logprobs: readonly Float32Array[],
  lossOf: (sequences: R[], found: PassLogProbs) => PassLoss,
): Promise<LossGradient> {
  const numbers = new Map(sequences.map((sequence, i) => [sequence, logprobs[i]!]));
  const [at, entropies] = tf.tidy(() => [
    tf.variable(spreadOver(sequences, (sequence) => numbers.get(sequence)!)),
    tf.keep(spreadOver(sequences, (sequence) => surprisals(numbers.get(sequence)!))),
  ]) as [tf.Variable<tf.Rank.R2>, tf.Tensor2D];
  const kept: Record<string, tf.Tensor> = {};
  const { value, gradients } = gradientsOf(
    () => {
      const { loss, figures } = lossOf(sequences, { logprobs: at, entropies });
      for (const [name, figure] of Object.entries(figures)) kept[name] = tf.keep(figure.clone());
      return loss.asScalar();
    },
    new Map([["logprobs", at as tf.Variable]]),
  );
  const { logprobs: gradient } = gradients;
  const read = async (tensor: tf.Tensor) => (await tensor.data()) as Float32Array;
  const figures: LossGradient["figures"] = {};
  for (const [name, figure] of Object.entries(kept)) figures[name] = await read(figure);
  const out = gatherFrom(sequences, await read(gradient!));
  tf.dispose([value, at, entropies, gradient!, ...Object.values(kept)]);
  return { gradients: out, figures };
}

/** A loss that a server computes itself exactly as the lab does, and where its gradient is linear. */
type ServerLoss = TinkerLoss;

/**
 * The server's own loss where it is exactly the lab's, token for token: `gpg` is the service's
 * importance sampling without its ratio (a cross-entropy, so it has no need of one), a loss that says so is
 * the one of that name, and `vanilla` is `ppo` where nothing is dual-clipped (`clipRatioC: Infinity`) and no switch of AEPO is
 * on. With a KL loss, and for everything else, the exact gradient is sent instead.
 */
function serverLossOf(options: UpdateOptions): ServerLoss | undefined {
  if (options.klLossCoefficient !== undefined || options.entropyBalancedAdvantage) return undefined;
  const { low, high, c } = clipBounds(options);
  const config = { clip_low_threshold: low, clip_high_threshold: high };
  const { tinker } = lossOf(options);
  if (tinker !== undefined) return { name: tinker, config };
  if (options.loss === "vanilla" && c === Infinity && !options.entropyBalancedClipping) {
    return { name: "ppo", config };
  }
  return undefined;
}

/** A sequence whose measuring is known. */
type KnownSequence = PassSequence & { oldLogprobs?: Float32Array };

const refuse = (name: string, must: string, got: unknown): never => {
  throw new RangeError(
    `Cannot update at a Tinker server: ${name} must be ${must}, got ${String(got)}`,
  );
};

/** A model at a server, as an update moves it. */
export class TinkerTrainee implements Trainee {
  #run: TinkerRun;
  #steps: number;
  #capabilities: TinkerCapabilities | undefined;
  readonly #given: Partial<TinkerCapabilities>;
  /** Why the server's gradient is not known, where it is not. */
  #unsure: string | undefined;
  /** ln p of sequences under the weights of now. */
  #known = new WeakMap<object, Float32Array>();
  /** The last sequences read under them, and what was said. */
  #probe: { sequences: readonly TokenSequence[]; logprobs: Float32Array[] } | undefined;

  constructor(run: TinkerRun, given: Partial<TinkerCapabilities>, steps = 0) {
    this.#run = run;
    this.#given = given;
    this.#steps = steps;
  }

  get steps(): number {
    return this.#steps;
  }

  get run(): TinkerRun {
    return this.#run;
  }

  /** What the server was found to be. */
  get capabilities(): TinkerCapabilities {
    if (this.#capabilities) return this.#capabilities;
    throw new TypeError("Cannot use a Tinker server: it must have been met, got one never asked");
  }

  /** Reads a sequence of two tokens, from which it shows what kind of server this is. */
  async probe(token: number): Promise<void> {
    await this.#forward([readRow({ prompt: [token], tokens: [token] })]);
  }

  /** Goes on with another model, whose weights and moments are those after so many steps. */
  resume(run: TinkerRun, steps: number): void {
    this.#run = run;
    this.#steps = steps;
    this.#unsure = undefined;
    this.#forget();
  }

  #forget(): void {
    this.#known = new WeakMap();
    this.#probe = undefined;
  }

  check({ temperature, entropyCoefficient = 0 }: UpdateSettings): void {
    if (temperature !== 1) {
      refuse("temperature", "1, at which a server says log-probabilities", temperature);
    }
    if (entropyCoefficient !== 0) {
      refuse("entropyCoefficient", "0, since a server says no entropies", entropyCoefficient);
    }
  }

  async measure(
    sequences: readonly PassSequence[],
    settings: UpdateSettings,
  ): Promise<SequenceMeasures> {
    this.check(settings);
    const { maxTokensPerPass, maxSequencesPerPass } = settings;
    const logprobs: Float32Array[] = [];
    for (const pass of splitByTokens(sequences, { maxTokensPerPass, maxSequencesPerPass })) {
      logprobs.push(...(await this.logProbs(pass)));
    }
    return { logprobs, entropies: logprobs.map(surprisals) };
  }

  /** ln p of sequences under the weights of now; asked for once. */
  async logProbs(sequences: readonly TokenSequence[]): Promise<Float32Array[]> {
    const missing = sequences.filter(({ trajectory }) => !this.#known.has(trajectory));
    if (missing.length > 0) {
      const found = await this.#forward(missing);
      missing.forEach(({ trajectory }, i) => this.#known.set(trajectory, found[i]!));
    }
    return sequences.map(({ trajectory }) => this.#known.get(trajectory)!);
  }

  async #forward(sequences: readonly TokenSequence[]): Promise<Float32Array[]> {
    const answer = await this.#run.forward(
      sequences.map((sequence) => ({
        ...shifted(sequence),
        inputs: {
          weights: laidOut(sequence, new Float32Array(sequence.trajectory.tokens.length).fill(1)),
        },
      })),
    );
    this.#capabilities ??= { ...capabilitiesOf(answer, this.#run.client.url), ...this.#given };
    const logprobs = sequences.map((sequence, i) =>
      ownPart(sequence, answer.loss_fn_outputs[i]!.logprobs!),
    );
    this.#probe = { sequences, logprobs };
    return logprobs;
  }

  /**
   * Whether the weights are others than when sequences were last read: the same sequences are read again.
   * Undefined where that cannot be told, as from a server whose passes differ by themselves.
   */
  async #moved(): Promise<boolean | undefined> {
    if (!this.#probe) return undefined;
    const { sequences, logprobs } = this.#probe;
    const now = await this.#forward(sequences);
    const again = await this.#forward(sequences);
    if (!same(now, again)) return undefined;
    this.#probe = { sequences, logprobs };
    return !same(now, logprobs);
  }

  async step<R extends PassSequence>(work: StepWork<R>): Promise<StepReport> {
    this.check(work.settings);
    if (this.#unsure !== undefined) {
      throw new TinkerError(
        `Cannot update: the gradient at the server must be known, got an update before that ended in the middle of it (${this.#unsure}); resume what was saved`,
      );
    }
    const served = serverLossOf(work.settings);
    const sent = await (served ? this.#servedLoss(work, served) : this.#exactGradient(work));
    if (!sent) return { norm: NaN, skipped: true };
    return this.#optimStep(work.now);
  }

  /** Sends dL/dlogp as it is at the log-probabilities of now; false where it is not finite. */
  async #exactGradient<R extends PassSequence>(work: StepWork<R>): Promise<boolean> {
    const sequences: GradientSequence[][] = [];
    for (const pass of work.passes) {
      const logprobs = await this.logProbs(pass);
      const { gradients, figures } = await lossGradient(pass, logprobs, work.lossOf);
      work.seen(pass, figures);
      sequences.push(gradientSequences(pass, gradients, logprobs));
    }
    const all = sequences.flat();
    if (!finite(all)) return false;
    const moving = new Set(movingSequences(all));
    for (const pass of sequences) {
      const some = pass.filter((sequence) => moving.has(sequence));
      if (some.length === 0) continue;
      const { loss, data } = exactGradient(some, this.capabilities, moving.size);
      await this.#send(data, loss);
    }
    return true;
  }

  /** Lets the server compute a loss that it has exactly as we do. */
  async #servedLoss<R extends PassSequence>(work: StepWork<R>, loss: TinkerLoss): Promise<boolean> {
    const count = work.passes.reduce((sum, pass) => sum + pass.length, 0);
    const passes: { pass: R[]; sequences: GradientSequence[] }[] = [];
    for (const pass of work.passes) {
      const old = pass.map((sequence: KnownSequence) => sequence.oldLogprobs!);
      // Where the ratio is 1 the gradient is the advantage, with all that weighs it.
      const { gradients } = await lossGradient(pass, old, work.lossOf);
      passes.push({ pass, sequences: gradientSequences(pass, gradients, old) });
    }
    if (!finite(passes.flatMap(({ sequences }) => sequences))) return false;
    for (const { pass, sequences } of passes) {
      const data = sequences.map((sequence) => ratioSequence(sequence, this.capabilities, count));
      const answer = await this.#send(data, loss);
      const logprobs = pass.map((sequence, i) =>
        ownPart(sequence, answer.loss_fn_outputs[i]!.logprobs!),
      );
      const { figures } = await lossGradient(pass, logprobs, work.lossOf);
      work.seen(pass, figures);
    }
    return true;
  }

  async #send(data: readonly TinkerDatum[], loss: TinkerLoss) {
    try {
      return await this.#run.forwardBackward(data, loss);
    } catch (error) {
      // Part of the gradient may be there, and cannot be taken back.
      this.#unsure = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  async #optimStep(now: StepWork<PassSequence>["now"]): Promise<StepReport> {
    const { clips } = this.capabilities;
    const bounded = now.maxNorm < Infinity;
    const adam: TinkerAdam = {
      ...{ learningRate: now.learningRate, weightDecay: now.weightDecay },
      ...{ beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
      maxNorm: bounded ? now.maxNorm : 0,
    };
    const metrics = await this.#surely(adam);
    this.#steps++;
    this.#forget();
    const norm = Object.entries(metrics).find(([name]) => name.includes("grad_norm"))?.[1] ?? NaN;
    const over = norm > now.maxNorm ? 1 : 0;
    return {
      norm,
      skipped: false,
      ...(bounded && !clips && !Number.isNaN(norm) ? { figures: { "actor/unclipped": over } } : {}),
    };
  }

  /** Takes one optimiser step, also where an answer is lost: the weights then say whether it was taken. */
  async #surely(adam: TinkerAdam): Promise<Record<string, number>> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#run.optimStep(adam);
      } catch (error) {
        this.#unsure = error instanceof Error ? error.message : String(error);
        if (!(error instanceof TinkerLostAnswer) || attempt >= 3) throw error;
        const taken = await this.#moved();
        if (taken === undefined) throw error;
        this.#unsure = undefined;
        this.#run.client.note(
          `arpo-lab: the answer to an optimiser step was lost; the weights say it was ${taken ? "taken" : "not taken, and it is taken now"}`,
        );
        if (taken) return {};
      }
    }
  }
}

const same = (a: readonly Float32Array[], b: readonly Float32Array[]): boolean =>
  a.every((sequence, i) => sequence.every((value, t) => value === b[i]![t]));

const finite = (sequences: readonly GradientSequence[]): boolean =>
  sequences.every(({ gradient }) => gradient.every(Number.isFinite));

const gradientSequences = (
  pass: readonly PassSequence[],
  gradients: readonly Float32Array[],
  logprobs: readonly Float32Array[],
): GradientSequence[] =>
  pass.map((sequence, i) => ({ sequence, gradient: gradients[i]!, logprobs: logprobs[i]! }));
