import { defined } from "../../../common/options/defined.js";
import type { TrainingBatch } from "../../learn/batch.js";
import type { Scored } from "../../reward/scored.js";
import { callConcentration } from "../../measure/entropy/call-concentration.js";
import { entropyRise } from "../../measure/entropy/entropy-rise.js";
import { decidedByEntropy } from "../../rollout/replay/replay.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { mean } from "../../base/statistics.js";

/**
 * Whether the policy is less sure at tool calls than elsewhere, and how many branch decisions that changed; only what
 * the trees can tell.
 */
export function entropyMetrics(trees: readonly RolloutTree[]): Record<string, number> {
  const { againstRest } = entropyRise(trees, { draws: 0 });
  const { concentration } = callConcentration(trees, { draws: 0 });
  return defined({
    "tree/entropy_rise": againstRest.value,
    "tree/entropy_at_calls": concentration.value,
    "branch/decided_by_entropy": decidedByEntropy(trees),
  });
}

/**
 * Seconds of a rollout in which at least one tool was at work: calls that overlap count once, so it is a
 * part of the rollout's own time.
 */
export function toolSeconds(trees: readonly RolloutTree[]): number {
  const spans = trees
    .flatMap(({ nodes }) => nodes.flatMap(({ tool, run }) => (tool && run ? [run] : [])))
    .sort((a, b) => a.start - b.start);
  let milliseconds = 0;
  let until = -Infinity;
  for (const { start, end } of spans) {
    milliseconds += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return milliseconds / 1000;
}

/** One validation answer's score. */
interface ValidationScore {
  dataSource: string;
  /** Answers to the same question share it. */
  question: string;
  score: number;
}

/** Expected greatest (or least) of k draws with replacement: the bootstrap's limit, without its noise. */
function expectedBest(sorted: readonly number[], k: number): number {
  const n = sorted.length;
  return sorted.reduce((sum, value, i) => sum + value * (((i + 1) / n) ** k - (i / n) ** k), 0);
}

/**
 * Validation figures per data source, under the reference's names: mean@N, std@N, and for N above 1
 * best@k and worst@k for k = 2, 4, …, N.
 */
export function validationMetrics(sequences: readonly ValidationScore[]): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const source of [...new Set(sequences.map((sequence) => sequence.dataSource))].sort()) {
    const questions = new Map<string, number[]>();
    for (const { dataSource, question, score } of sequences) {
      if (dataSource !== source) continue;
      questions.set(question, [...(questions.get(question) ?? []), score]);
    }
    const groups = [...questions.values()].map((scores) => [...scores].sort((a, b) => a - b));
    const n = Math.max(...groups.map((g) => g.length));
    const core = `val-core/${source}/reward`;
    const aux = `val-aux/${source}/reward`;
    metrics[`${core}/mean@${n}`] = mean(groups.map(mean));
    if (n === 1) continue;
    metrics[`${aux}/std@${n}`] = mean(
      groups.map((g) => Math.sqrt(mean(g.map((v) => (v - mean(g)) ** 2)))),
    );
    for (let k = 2; ; k *= 2) {
      const size = Math.min(k, n);
      const place = size === n ? core : aux;
      metrics[`${place}/best@${size}/mean`] = mean(groups.map((g) => expectedBest(g, size)));
      metrics[`${aux}/worst@${size}/mean`] = mean(
        groups.map((g) => expectedBest([...g].reverse(), size)),
      );
      if (size === n) break;
    }
  }
  return metrics;
}

/** Mean, greatest and least of some figures under one name. */
function spread(name: string, values: readonly number[]): Record<string, number> {
  if (values.length === 0) return {};
  let [sum, max, min] = [0, -Infinity, Infinity];
  for (const value of values) {
    sum += value;
    max = Math.max(max, value);
    min = Math.min(min, value);
  }
  return { [`${name}/mean`]: sum / values.length, [`${name}/max`]: max, [`${name}/min`]: min };
}

/** What a batch looks like, under the reference's names. */
export function batchMetrics(
  scored: Scored,
  batch: TrainingBatch,
  responseLimit: number,
): Record<string, number> {
  const trained = (pick: (sequence: TrainingBatch["trajectories"][number]) => Float32Array) =>
    batch.trajectories.flatMap((sequence) =>
      Array.from(pick(sequence)).filter((_, t) => sequence.trajectory.lossMask[t] === 1),
    );
  const lengths = scored.trajectories.map(({ trajectory }) => trajectory.tokens.length);
  const cut = lengths.filter((length) => length >= responseLimit).length;
  const parts = new Map<string, number[]>();
  for (const { score } of scored.trajectories) {
    for (const [name, value] of Object.entries(score.parts ?? {})) {
      parts.set(name, [...(parts.get(name) ?? []), value]);
    }
  }
  const means = [...parts].map(([name, values]): [string, number] => [
    `reward/${name}/mean`,
    mean(values),
  ]);
  return {
    ...spread(
      "critic/score",
      scored.trajectories.map(({ score }) => score.score),
    ),
    ...spread(
      "critic/rewards",
      batch.trajectories.map(({ reward }) => reward),
    ),
    ...spread(
      "critic/advantages",
      trained((sequence) => sequence.advantages),
    ),
    ...spread(
      "critic/returns",
      trained((sequence) => sequence.returns),
    ),
    ...spread("response_length", lengths),
    "response_length/clip_ratio": cut / lengths.length,
    "tools/calls_per_sample":
      scored.trajectories.reduce((sum, { trajectory }) => sum + trajectory.toolCalls.length, 0) /
      lengths.length,
    ...spread(
      "prompt_length",
      scored.trajectories.map(({ trajectory }) => trajectory.prompt.length),
    ),
    ...Object.fromEntries(means),
  };
}
