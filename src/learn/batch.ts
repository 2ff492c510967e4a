import { checkArguments, kinds, shown } from "../../common/options/check-arguments.js";
import type { Scored } from "../reward/scored.js";
import type { Trajectory } from "../rollout/tree/trajectory.js";
import * as exact from "../base/exact/index.js";
import { logged, showAs, type Shown } from "../base/show/show-as.js";

/** Refuses what has no advantages: a tree and scored trajectories get the calls that make a batch of them. */
export function checkBatch(action: string, batch: unknown): void {
  const isTree = kinds.tree[1](Array.isArray(batch) ? batch[0] : batch);
  const { trajectories } = (batch ?? {}) as { trajectories?: unknown };
  const first: unknown = Array.isArray(trajectories) ? trajectories[0] : undefined;
  if (isTree || batch instanceof Promise || (kinds.object[1](first) && !("advantages" in first))) {
    const call = isTree ? "advantages(await score(…))" : "advantages(scored)";
    throw new TypeError(
      `Cannot ${action}: batch must be what advantages() made, got ${shown(batch)}; write ${call} first`,
    );
  }
  checkArguments(action, { batch } as { batch: TrainingBatch }, {
    batch: { trajectories: "list" },
  });
}

/** One trajectory with its score: what a model is run over. Arrays have one entry per response token. */
export interface ScoredSequence {
  trajectory: Trajectory;
  /** Trajectories of one prompt share a group. */
  group: string;
  /** The whole trajectory's score. */
  reward: number;
}

/** A trajectory with what was measured before an update. */
export interface PreparedSequence extends ScoredSequence {
  /** ln p under the policy before the update, recomputed by the model that is trained. */
  oldLogprobs: Float32Array;
  /** Full-vocabulary entropy at each token before the update. */
  entropies: Float32Array;
  /** ln p under the frozen reference policy, where one is asked. */
  refLogprobs?: Float32Array;
  /** ln p under a teacher, where there is one that has something to say of the trajectory; 0 where the model did not write. */
  teacherLogprobs?: Float32Array;
  /** ln p of every token of the vocabulary under it, token by token, where whole distributions are compared. */
  teacherDistributions?: Float32Array;
  /** The critic's values before the update, where there is one. */
  values?: Float32Array;
  /** The sum of p² over the vocabulary at each token before the update, where it was measured. */
  squares?: Float32Array;
  /** What a correction for another sampler multiplies the token losses by, where there is one. */
  rolloutWeights?: Float32Array;
  /** Those weights are of trajectories: each token has its trajectory's. */
  wholeWeights?: true;
  /** How many updates older the policy was that sampled each token, when this was measured; -1: nobody said. */
  ages?: Int32Array;
  /** What a correction's rejection left of the trajectory's `lossMask`, where it rejects. */
  keptMask?: Uint8Array;
  /**
   * `sampler`: oldLogprobs are what the sampler said, for a correction that bypasses measuring; `rollout`:
   * what the policy itself said when it sampled (`reuseLogProbs`).
   */
  oldFrom?: "sampler" | "rollout";
  /** `whole`: oldLogprobs are over the whole vocabulary although the trajectory has a support. */
  oldOver?: "whole";
}

/**
 * 1 on the tokens of a trajectory that are trained on: those the model wrote, less what a correction
 * rejected.
 */
export function trainedMask(
  sequence: Pick<ScoredSequence, "trajectory"> & Pick<PreparedSequence, "keptMask">,
): Uint8Array {
  checkArguments("look at a trajectory", { row: sequence }, { row: { trajectory: "object" } });
  return sequence.keptMask ?? sequence.trajectory.lossMask;
}

/** What the sampler said of each token: over its support, where that is recorded and used; NaN where it did not say. */
export function saidLogprobs({
  trajectory: { logprobs, support },
  oldOver,
}: Pick<PreparedSequence, "trajectory" | "oldOver">): Float32Array {
  if (!support || oldOver === "whole") return logprobs;
  const { offsets, logprobs: over } = support;
  return logprobs?.map((p, t) => (offsets[t + 1]! > offsets[t]! ? over[t]! : p));
}

/**
 * Says of trajectories whether log-probabilities are over their support.
 * @param measured whether all that are asked for log-probabilities can measure them over it: models in this process
 */
export function chooseSupport(
  sequences: readonly (ScoredSequence & Pick<PreparedSequence, "oldOver">)[],
  over: "recorded" | "whole",
  measured: boolean,
): void {
  for (const sequence of sequences) {
    delete sequence.oldOver;
    if (!sequence.trajectory.support) continue;
    if (over === "whole") sequence.oldOver = "whole";
    else if (!measured) refuseElsewhere();
  }
}

/** Refuses to ask somebody for log-probabilities over a support who says those over the whole vocabulary. */
export function refuseElsewhere(): never {
  throw new TypeError(
    'Cannot update: log-probabilities over what top-k, top-p or min-p left must be of models in this process, got one elsewhere; samplingMask "whole" takes them over the whole vocabulary, or sample without a cut-off',
  );
}

/**
 * What top-k, top-p and min-p left, on average: of the probability at the sampler, and of tokens how many. Over the whole
 * vocabulary a ratio to the sampler is too small by the first.
 */
export function keptMass(
  sequences: readonly Pick<ScoredSequence, "trajectory">[],
): Record<string, number> {
  let [tokens, mass, ids] = [0, 0, 0];
  for (const { trajectory } of sequences) {
    const { support, logprobs, lossMask } = trajectory;
    support?.logprobs.forEach((over, t) => {
      const size = support.offsets[t + 1]! - support.offsets[t]!;
      if (!lossMask[t] || size === 0 || !Number.isFinite(over)) return;
      tokens++;
      mass += exact.exp(logprobs[t]! - over);
      ids += size;
    });
  }
  if (tokens === 0) return {};
  return { "sampling/kept_mass": mass / tokens, "sampling/kept_tokens": ids / tokens };
}

/** The mean of something over trained tokens; 0 where nobody said it. */
export function meanOver<R extends Pick<ScoredSequence, "trajectory">>(
  sequences: readonly R[],
  pick: (sequence: R) => Float32Array,
): number {
  let sum = 0;
  let count = 0;
  for (const sequence of sequences) {
    pick(sequence).forEach((value, t) => {
      // A sampler may not have said how uncertain it was.
      if (!sequence.trajectory.lossMask[t] || Number.isNaN(value)) return;
      sum += value;
      count++;
    });
  }
  return count === 0 ? 0 : sum / count;
}

/** ln p at the sampler; where it did not say, that of before the update, so that the ratio of the two is 1. */
export function sampledLogprobs(
  sequence: Pick<PreparedSequence, "trajectory" | "oldLogprobs" | "oldOver">,
): Float32Array {
  const logprobs = saidLogprobs(sequence);
  return sequence.oldLogprobs.map((p, t) => {
    const said = logprobs?.[t];
    return said !== undefined && Number.isFinite(said) ? said : p;
  });
}

/** A trajectory with what an update did to it. */
export interface TrainedSequence extends PreparedSequence {
  advantages: Float32Array;
  returns: Float32Array;
  /** ln p when the trajectory's mini-batch was updated; with oldLogprobs it gives the ratio. */
  newLogprobs: Float32Array;
  /** What an update with a teacher uses in place of `advantages`. */
  taughtAdvantages?: Float32Array;
  /** 1 on the tokens that the loss picked out of its batch, where it does so. */
  chosen?: Float32Array;
}

/**
 * A trajectory of a batch: it has advantages. An update measures what it needs, and writes that and what it
 * found beside them: `isPrepared` and `isTrained` say how far a trajectory is.
 */
export type BatchSequence = ScoredSequence &
  Pick<TrainedSequence, "advantages" | "returns"> &
  Partial<TrainedSequence>;

/** The advantages that an update uses: the trajectory's own, or those that a teacher had a part in. */
export const usedAdvantages = ({
  taughtAdvantages,
  advantages,
}: Pick<TrainedSequence, "advantages" | "taughtAdvantages">): Float32Array =>
  taughtAdvantages ?? advantages;

/** Whether a trajectory was measured: old log-probabilities and entropies are there. */
export function isPrepared<R extends ScoredSequence>(
  sequence: R & Partial<PreparedSequence>,
): sequence is R & PreparedSequence {
  return sequence.oldLogprobs !== undefined && sequence.entropies !== undefined;
}

/** Whether a trajectory went through an update: it has log-probabilities of before and of then. */
export function isTrained(sequence: BatchSequence): sequence is TrainedSequence {
  return sequence.newLogprobs !== undefined && isPrepared(sequence);
}

/** The trajectories of scored trajectories, before there are advantages. */
export function sequencesOf(scored: Scored): ScoredSequence[] {
  return scored.trajectories.map(({ trajectory, group, score }) => ({
    ...{ trajectory, group },
    reward: score.score,
  }));
}

/**
 * Trajectories with advantages: what an update is made from. Shows itself.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages } from "arpo-lab/learn";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 2, seed: 1 });
 * const batch = advantages(await score(tree, ({ length }) => length));
 * assert.deepEqual([batch.trajectories.length, batch.estimator], [2, "grpo"]);
 * ```
 */
export class TrainingBatch {
  /**
   * @param trajectories the trajectories with an advantage for every token
   * @param estimator the name of the estimator that computed them
   */
  constructor(
    readonly trajectories: readonly BatchSequence[],
    readonly estimator: string,
    /** What the advantages were estimated from, where that is known. */
    readonly scored?: Scored,
  ) {}

  /** Tokens that are trained on. */
  get tokens(): number {
    return this.trajectories.reduce(
      (sum, { trajectory }) => sum + trajectory.lossMask.reduce((n, m) => n + m, 0),
      0,
    );
  }

  /**
   * How many updates older the policies were that sampled the trained tokens, as far as an update has found out: mean and
   * greatest. Undefined where nobody counted, or before the update.
   */
  get age(): { mean: number; max: number } | undefined {
    const ages = this.trajectories.flatMap(({ ages, trajectory: { lossMask } }) =>
      Array.from(ages ?? []).filter((age, t) => age >= 0 && lossMask[t]),
    );
    if (ages.length === 0) return undefined;
    return {
      mean: ages.reduce((a, b) => a + b, 0) / ages.length,
      max: ages.reduce((a, b) => Math.max(a, b), 0),
    };
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return {
      group: "Batches",
      text: `${this.trajectories.length} trajectories, ${this.estimator}`,
    };
  }

  /** A table, one line per trajectory. */
  toString(): string {
    const lines = this.trajectories.map(({ trajectory, group, reward, advantages }) => {
      const own = advantages.filter((_, t) => trajectory.lossMask[t]);
      const low = own.reduce((a, b) => Math.min(a, b), Infinity);
      const high = own.reduce((a, b) => Math.max(a, b), -Infinity);
      const range = low === high ? low.toFixed(3) : `${low.toFixed(3)} to ${high.toFixed(3)}`;
      return `${group}\t${trajectory.id}\t${reward.toFixed(3)}\t${range}\t${own.length}`;
    });
    const { age } = this;
    const old = age && age.max > 0 ? `, sampled ${Number(age.mean.toFixed(2))} updates ago` : "";
    const title = `${this.trajectories.length} trajectories, ${this.tokens} trained tokens, advantages by ${this.estimator}${old}`;
    return [title, "task\trow\treward\tadvantage\ttokens", ...lines].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("TrainingBatch", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}
