import { sourceLines } from "#pages/source-lines";
import { toBase64 } from "#platform/bytes";
import { oneOf, optionsFor, type OptionRules } from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { type AdvantageOptions, advantages } from "../../learn/advantages.js";
import { type BatchSequence, trainedMask, TrainingBatch } from "../../learn/batch.js";
import { formulaOf, type LossDefinition, settingsOf } from "../../learn/losses/base/definition.js";
import * as f from "../../learn/losses/base/formula.js";
import type { FormulaLine } from "../../learn/losses/base/formula.js";
import type { LossAggregation } from "../../learn/losses/base/options.js";
import { type ActorLossOptions, lossRules } from "../../learn/losses/loss-rules.js";
import { aggregationOf, type LossName, lossOf, lossRegistry } from "../../learn/losses/registry.js";
import { seenTokens } from "../../learn/losses/token-update.js";
import type { LossRow } from "../../learn/losses/base/token-rule.js";
import { UpdateReport } from "../../learn/update/update-report.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { Scored } from "../../reward/scored.js";
import { packVocabulary } from "../page/pack.js";
import { numberText } from "../page/words.js";
import { type Algorithm, type AlgorithmName, algorithms as known } from "./algorithms.js";
import { advantageLine } from "./formulas/advantage-line.js";
import type {
  CodeLine,
  ExplainedAlgorithm,
  ExplainedLine,
  ExplainedRow,
  ExplainPayload,
  ObjectiveSettings,
  RecordedLoss,
} from "./payload.js";

/** The lines of an objective from the ratio to the gradient. */
function objectiveLines(settings: ObjectiveSettings): f.FormulaLine[] {
  const definition = lossOf(settings);
  return [
    ...formulaOf(definition, settings),
    gradientLine(definition, settings),
    totalLine(definition, settings),
  ];
}

function gradientLine(definition: LossDefinition, settings: ObjectiveSettings): f.FormulaLine {
  const { gradient = { code: [] } } = definition;
  const advantage = gradient.ownAdvantage?.(settingsOf(definition, settings)) ? f.used : f.given;
  const pulled = gradient.hold ? [f.plus, f.symbol("hold", f.sub(f.mi("h"), f.mi("t")))] : [];
  return f.line(
    "Gradient: what the loss leaves of it",
    f.math(
      ...[f.frac(f.row(f.mi("∂"), f.loss), f.row(f.mi("∂"), f.log("θ"))), f.equals, f.minus],
      ...[f.symbol("weight", f.sub(f.mi("w"), f.mi("t"))), f.times, advantage],
      ...[...pulled, f.equals, f.symbol("slope", f.sub(f.mi("g"), f.mi("t")))],
    ),
    ...gradient.code,
  );
}

/** Why a mode counts tokens as it does, what it divides by, and the lines that do it in either rule. */
const sums: Record<LossAggregation, [why: string, by: string, older: string, newer: string]> = {
  "token-mean": [
    "every trained token of the batch counts the same",
    "tokens",
    "maskedTensorMean.return",
    "newer.token-mean.return",
  ],
  "token-sum": ["every trained token counts as it is", "one", "tokenSum.return", "tokenSum.return"],
  "seq-mean-token-sum": [
    "every trajectory counts its tokens' sum",
    "trajectories",
    "older.seq-mean-token-sum.return",
    "meanOfFilled.return",
  ],
  "seq-mean-token-mean": [
    "every trajectory counts the same, however long",
    "trajectories · its tokens",
    "older.seq-mean-token-mean.return",
    "meanOfFilled.return",
  ],
  "seq-mean-token-sum-norm": [
    "one constant length for all trajectories",
    "longest",
    "older.seq-mean-token-sum-norm.return",
    "newer.seq-mean-token-sum-norm.return",
  ],
  "prompt-mean": [
    "every prompt counts the same, and every token of it",
    "prompts · its tokens",
    "promptScales.return",
    "promptScales.return",
  ],
};

function totalLine({ ownAggregation }: LossDefinition, settings: ObjectiveSettings): f.FormulaLine {
  const { mode, rule } = aggregationOf(settings);
  const [why, what, older, newer] = sums[mode];
  const scaled = rule !== "older" && mode === "seq-mean-token-sum-norm";
  const under = scaled ? "trajectories · longest" : what;
  const share = f.symbol(
    "share",
    mode === "token-sum" ? f.mn(1) : f.frac(f.mn(1), `<mtext>${under}</mtext>`),
  );
  const kl = f.symbol("kl", f.sub(f.mi("KL"), f.mi("t")));
  const penalty = settings.klLossCoefficient
    ? [f.plus, f.symbol("beta", f.mi("β")), f.times, kl]
    : [];
  const sum =
    typeof ownAggregation === "object" ? ownAggregation.sum : rule === "older" ? older : newer;
  return f.line(
    `Share in the loss of the batch: ${why}`,
    f.math(
      ...[f.symbol("part", f.sub(f.mi("L"), f.mi("t"))), f.equals, share, f.times],
      ...(penalty.length > 0 ? [f.mo("("), f.loss, ...penalty, f.mo(")")] : [f.loss]),
    ),
    ...[sum, ...(penalty.length > 0 ? ["actorLossOf.loss"] : [])],
  );
}

function codeOf(name: string): CodeLine {
  const found = sourceLines[name];
  if (found) return found;
  throw new Error(`Cannot quote the library: a line must be in its sources, got ${name}`);
}

/** A formula beside the lines of the library that compute it. */
const quoted = ({ code, ...line }: FormulaLine): ExplainedLine => ({
  ...line,
  code: code.map(codeOf),
});

/** What a critic expects before each token: the batch's own, or what its trees themselves say. */
interface CriticValues {
  values: Float64Array[];
  /** True where a critic gave them. */
  learned: boolean;
}

/**
 * A critic's values of a batch. Where it has none, the mean score of the trajectories that have the same
 * tokens up to there: what a critic would say that knew these trees and nothing else.
 */
export function criticValues(batch: TrainingBatch): CriticValues {
  const { trajectories: sequences } = batch;
  if (sequences.length > 0 && sequences.every((sequence) => sequence.values !== undefined)) {
    return {
      values: sequences.map((sequence) => Float64Array.from(sequence.values!)),
      learned: true,
    };
  }
  const mean = (of: typeof sequences) =>
    of.reduce((sum, { reward }) => sum + reward, 0) / of.length;
  const values = sequences.map(({ trajectory, group }) => {
    const tree = batch.scored?.trees.find(({ index }) => index === trajectory.tree);
    const out = new Float64Array(trajectory.tokens.length);
    // Before its first token a trajectory is its prompt alone, as are all trajectories of its group.
    out[0] = mean(sequences.filter((sequence) => sequence.group === group));
    let start = 0;
    const nodes = tree ? trajectory.nodes : [];
    nodes.forEach((node) => {
      const length = tree!.nodes[node]!.tokens.length;
      const same = sequences.filter(
        (sequence) =>
          sequence.trajectory.tree === trajectory.tree && sequence.trajectory.nodes.includes(node),
      );
      // From its second token on a segment is known; the token behind its last is the next one's first.
      out.fill(mean(same), start + 1, start + length + 1);
      start += length;
    });
    // Without a tree every trajectory is its own from its first token on.
    if (nodes.length === 0)
      out.fill(mean(sequences.filter((sequence) => sequence.trajectory === trajectory)), 1);
    return out;
  });
  return { values, learned: false };
}

export interface ExplainOptions {
  /** Looked at first. Default: what the batch or the update did itself. */
  algorithm?: AlgorithmName | "own";
  /** By default the one that made the batch's trees; without one, tokens are shown as numbers. */
  tokenizer?: Tokenizer;
}

export const explainRules: OptionRules<ExplainOptions> = {
  algorithm: oneOf(["own", ...Object.keys(known)]),
  tokenizer: "tokenizer?",
};

const floats = (values: Iterable<number>): string => toBase64(Float32Array.from(values));

/** A batch, before or after an update, as the explainer's page reads it. */
export function explainPayload(
  source: TrainingBatch | UpdateReport,
  options: ExplainOptions = {},
): ExplainPayload {
  const report = source instanceof UpdateReport ? source : undefined;
  const batch = report?.batch ?? (source as TrainingBatch);
  if (batch.tokens === 0) {
    throw new RangeError("Cannot explain a batch: it must have a trained token, got none");
  }
  const { trajectories: sequences } = batch;
  const trees = batch.scored?.trees ?? [];
  const tokenizer = options.tokenizer ?? trees[0]?.tokenizer;
  const updated = sequences.every((sequence) => sequence.newLogprobs !== undefined);
  const gather = (read: (sequence: BatchSequence, t: number) => number) =>
    sequences.flatMap((sequence) =>
      Array.from(sequence.trajectory.tokens, (_, t) => read(sequence, t)),
    );
  const trained = (read: (sequence: BatchSequence, t: number) => number) =>
    gather((sequence, t) => (trainedMask(sequence)[t] ? read(sequence, t) : NaN));
  const old = (sequence: BatchSequence) => sequence.oldLogprobs ?? sequence.trajectory.logprobs;
  const sampledAt = (sequence: BatchSequence, t: number) => {
    const said = sequence.trajectory.logprobs[t]!;
    return Number.isFinite(said) ? said : old(sequence)[t]!;
  };

  const { vocabulary, place } = packVocabulary(tokenizer);
  const tokens = Int32Array.from(gather(({ trajectory }, t) => place(trajectory.tokens[t]!)));
  const list = ownFirst(batch, report).concat(others(batch));
  // Several algorithms take the same advantages: they are carried once.
  const given: string[] = [];
  const algorithms = list.map(({ batch: own, ...rest }): ExplainedAlgorithm => {
    const packed = floats(own.trajectories.flatMap((sequence) => Array.from(sequence.advantages)));
    if (!given.includes(packed)) given.push(packed);
    return { ...rest, advantages: given.indexOf(packed) };
  });
  const hasReference = sequences.every((sequence) => sequence.refLogprobs !== undefined);
  return {
    updated,
    vocabulary,
    tokens: toBase64(tokens),
    mask: toBase64(Uint8Array.from(gather((sequence, t) => trainedMask(sequence)[t]!))),
    logprobs: floats(trained((sequence, t) => (sequence.newLogprobs ?? old(sequence))[t]!)),
    oldLogprobs: floats(trained((sequence, t) => old(sequence)[t]!)),
    ...(hasReference
      ? { refLogprobs: floats(trained((sequence, t) => sequence.refLogprobs![t]!)) }
      : {}),
    ...(sequences.some(({ trajectory }) => trajectory.sampler !== undefined)
      ? { sampledLogprobs: floats(trained((sequence, t) => sampledAt(sequence, t))) }
      : {}),
    entropies: floats(
      trained((sequence, t) => (sequence.entropies ?? sequence.trajectory.entropies)[t]!),
    ),
    ...(sequences.every((sequence) => sequence.rolloutWeights !== undefined)
      ? { weights: floats(trained((sequence, t) => sequence.rolloutWeights![t]!)) }
      : {}),
    ...(sequences.some((sequence) => sequence.wholeWeights) ? { wholeWeights: true } : {}),
    values: floats(criticValues(batch).values.flatMap((sequence) => Array.from(sequence))),
    ...(sequences.every((sequence) => sequence.chosen !== undefined)
      ? { chosen: floats(trained((sequence, t) => sequence.chosen![t]!)) }
      : {}),
    rows: placed(batch),
    advantages: given,
    algorithms,
    first: options.algorithm ?? list[0]!.name,
  };
}

interface Laid {
  name: string;
  label: string;
  summary: string;
  settings: ObjectiveSettings;
  loss?: RecordedLoss;
  batch: TrainingBatch;
  lines: ExplainedAlgorithm["lines"];
}

/** What the batch or the update did itself, where that is none of the known algorithms by name. */
function ownFirst(batch: TrainingBatch, report: UpdateReport | undefined): Laid[] {
  const settings = settingsIn(report?.options ?? {});
  const loss = recorded(batch, settings);
  const by = loss
    ? { loss, settings: { ...settings, loss: loss.facts.name as LossName } }
    : { settings };
  return [
    {
      name: "own",
      label: !report ? "This batch" : loss ? `This update: ${loss.facts.title}` : "This update",
      summary: report
        ? "The settings that this update was made with, and the advantages it was given."
        : "The batch's own advantages under the usual clip; no update was made yet.",
      ...by,
      batch,
      lines: [advantageLine(batch.estimator), ...objectiveLines(settings)].map(quoted),
    },
  ];
}

/** Every algorithm's view of the same trajectories. */
function others(batch: TrainingBatch): Laid[] {
  const scored = new Scored(
    batch.trajectories.map(({ trajectory, group, reward }) => ({
      ...{ trajectory, group },
      score: { score: reward, reason: "" },
    })),
    batch.scored?.trees ?? [],
  );
  return (Object.entries(known) as [AlgorithmName, Algorithm][])
    .filter(([name]) => name !== "arpo-hard" || scored.trees.length > 0)
    .map(([name, { label, summary, advantage, against, settings }]): Laid => {
      const { normalizeByDeviation: normalised = true, attribution } = advantage;
      const { estimator = "grpo" } = advantage;
      const made = against && { nothing: "reinforce", critic: "critic" }[against];
      const named = typeof estimator === "string" ? estimator : estimator.name;
      const first = advantageLine(made ?? named, { normalised, hard: attribution === "hard" });
      const laid = laidBy(batch, scored, advantage, against);
      const lines = [first, ...objectiveLines(settings)].map(quoted);
      return { name, label, summary, settings, batch: laid, lines };
    });
}

/** The batch with an algorithm's advantages. */
export function laidBy(
  batch: TrainingBatch,
  scored: Scored,
  advantage: AdvantageOptions,
  against: Algorithm["against"],
): TrainingBatch {
  if (against === "critic") {
    return advantages(scored, { ...advantage, values: criticValues(batch).values });
  }
  if (against === undefined) return advantages(scored, advantage);
  const values = batch.trajectories.map(
    ({ trajectory }) => new Float64Array(trajectory.tokens.length),
  );
  const laid = advantages(scored, { ...advantage, values });
  const sequences = laid.trajectories.map((sequence) => ({
    ...sequence,
    advantages: sequence.returns,
  }));
  return new TrainingBatch(sequences, "reinforce", scored);
}

/** The part of an update's settings that its objective depends on. */
function settingsIn(options: UpdateReport["options"]): ObjectiveSettings {
  const said = optionsFor<ActorLossOptions>(lossRules(options), options);
  return { ...said, loss: options.loss ?? "vanilla" };
}

/** A loss that the page does not have goes along as what it makes of the batch. */
function recorded(batch: TrainingBatch, settings: ObjectiveSettings): RecordedLoss | undefined {
  const loss = lossOf(settings);
  if (lossRegistry.built.includes(loss)) return undefined;
  const { name, title, aggregation, ownAggregation, rule, clips, ratioOf } = loss;
  const rows = batch.trajectories.map((sequence): LossRow => {
    const { trajectory, advantages, rolloutWeights: weights, wholeWeights, chosen } = sequence;
    const { oldLogprobs = trajectory.logprobs, entropies = trajectory.entropies } = sequence;
    const { newLogprobs: logprobs = oldLogprobs } = sequence;
    const seen = { logprobs, oldLogprobs, advantages, mask: trainedMask(sequence), entropies };
    return { ...seen, ...defined({ weights, wholeWeights, chosen }) };
  });
  const told = seenTokens(rows, settings);
  return {
    facts: {
      ...{ name, title, aggregation, rule },
      ...defined({ ownAggregation, clips, ratioOf }),
    },
    tokens: rows.flatMap(({ mask }, r) =>
      Array.from(mask, (trained, t) => (trained ? told(r, t) : null)),
    ),
  };
}

/** The trajectories with their place among the tokens, their group, and the spans they may share. */
function placed({ trajectories: sequences, scored }: TrainingBatch): ExplainedRow[] {
  let start = 0;
  return sequences.map(({ trajectory, group, reward }): ExplainedRow => {
    const { length } = trajectory.tokens;
    const own = sequences
      .filter((sequence) => sequence.group === group)
      .map((sequence) => sequence.reward);
    const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
    const squares = own.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const tree = scored?.trees.find(({ index }) => index === trajectory.tree);
    let at = 0;
    const stretches = tree
      ? trajectory.nodes.map((node): [number, number] => {
          at += tree.nodes[node]!.tokens.length;
          return [node, Math.min(at, length)];
        })
      : [];
    start += length;
    return {
      label: `task ${group}, trajectory ${trajectory.id}, score ${numberText(reward, 3)}`,
      ...{ start: start - length, length, tree: trajectory.tree, stretches, reward },
      groupMean: own.length === 1 ? 0 : mean,
      groupDeviation: own.length === 1 ? 1 : Math.sqrt(squares / (own.length - 1)),
      groupSize: own.length,
    };
  });
}
