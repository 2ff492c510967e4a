import { program } from "#pages/tuner";
import { escapeHtml } from "../../../../common/picture/escape.js";
import { shown } from "../../../../common/options/check-arguments.js";
import {
  checkOptions,
  either,
  integer,
  listOf,
  type OptionRules,
} from "../../../../common/options/check-options.js";
import { defined } from "../../../../common/options/defined.js";
import { isRecord } from "../../../../common/options/is-record.js";
import { advantages } from "../../../learn/advantages.js";
import { TrainingBatch } from "../../../learn/batch.js";
import { lossOf, lossRegistry } from "../../../learn/losses/registry.js";
import { UpdateReport } from "../../../learn/update/update-report.js";
import type { ImportedRollouts } from "../../../formats/imported-rollouts.js";
import type { Tokenizer } from "../../../model/tokenizer/tokenizer.js";
import type { Policy } from "../../../policy/policy.js";
import { figureTheme } from "../../draw/figure-theme.js";
import { stillSvg, svgPainter } from "../../draw/svg-painter.js";
import { table } from "../../page/table.js";
import { header } from "../../page/header.js";
import { View } from "../../page/view.js";
import { type MadeWith, tunerPayload } from "./make-payload.js";
import { drawAdvantage } from "./page/draw-advantage.js";
import { readTuner, tune } from "./page/tune.js";
import { causeHeads, causeRows, settingsCode, tunedWords } from "./page/tuner-words.js";
import type { TunerPayload } from "./payload.js";
import { tunerStyle } from "./style.js";

export interface ClipTunerOptions {
  /**
   * A policy that has moved on, or its log-probabilities over the whole vocabulary: a list for each trajectory, a number for each
   * token. Needed where
   * the batch went through no update. Default: those of the update.
   */
  current?: Policy | readonly ArrayLike<number>[];
  /** Without one, tokens are shown as their numbers. Default: the tree's own. */
  tokenizer?: Tokenizer;
  /** Tokens at most; of longer batches evenly chosen trajectories are shown (default 50,000). */
  tokens?: number;
}

const rules: OptionRules<ClipTunerOptions> = {
  current: either("policy", listOf("list", "lists of numbers")),
  tokenizer: "tokenizer?",
  tokens: integer(1),
};

const action = "tune clipping";
const [width, height, above] = [720, 250, 54];

/** Which tokens lose their gradient under which settings; shows itself. */
export class ClipTuner extends View<TunerPayload> {
  protected override readonly page = { name: "tuner", style: tunerStyle, program };
  #tuned: ReturnType<typeof tune> | undefined;

  /** What becomes of the tokens where the sliders begin. */
  get #first() {
    return (this.#tuned ??= tune(readTuner(this.payload), this.payload.first));
  }

  override get summary(): string {
    const { title, first, left } = this.payload;
    const rows = causeRows(this.#first).map((cells) =>
      cells.map((cell) => (typeof cell === "string" ? cell : cell.html)).join("\t"),
    );
    return [
      title,
      tunedWords(this.#first),
      settingsCode(this.payload, first),
      ...[causeHeads.join("\t"), ...rows, ...left],
    ].join("\n");
  }

  override picture(): string {
    const theme = figureTheme();
    const [frame, chart] = [svgPainter("frame"), svgPainter("chart")];
    const { payload } = this;
    const words = tunedWords(this.#first);
    frame.rect(0, 0, width, above + height, { fill: theme.paper });
    frame.text(12, 16, payload.title, { size: 14, weight: 650, fill: theme.ink });
    frame.text(12, 37, words, { size: 11.5, fill: theme.ink2 });
    const shown = { batch: readTuner(payload), tuned: this.#first, settings: payload.first };
    drawAdvantage(chart, theme, shown, { width, height });
    frame.parts.push(`<g transform="translate(0 ${above})">${chart.parts.join("")}</g>`);
    return stillSvg({
      ...{ width, height: above + height, title: payload.title, words, parts: frame.parts },
    });
  }

  protected override still(): string {
    const rows = table(causeRows(this.#first), causeHeads);
    return `${header(this.payload.title)}<p>${escapeHtml(tunedWords(this.#first))}</p><div class="arpo-wide" tabindex="0" role="group" aria-label="advantage by ratio">${this.drawn}</div>${rows}`;
  }
}

const isImported = (source: unknown): source is ImportedRollouts =>
  isRecord(source) && "carried" in source && "prompts" in source;

/** The batch of a source, and what its update was made with. */
function batchOf(
  source: TrainingBatch | UpdateReport | ImportedRollouts,
): [TrainingBatch, MadeWith] {
  if (source instanceof UpdateReport) {
    const { options } = source;
    const known = lossRegistry.built.includes(lossOf(options));
    if (!known)
      throw new TypeError(
        `Cannot ${action}: the update's loss must be one of the library's, which a page knows, got ${lossOf(options).name}`,
      );
    return [source.batch, { options, correction: options.rolloutCorrection }];
  }
  const made: MadeWith = { options: {}, correction: undefined };
  if (source instanceof TrainingBatch) return [source, made];
  if (!isImported(source))
    throw new TypeError(
      `Cannot ${action}: there must be a batch, an update's report or imported rollouts, got ${shown(source)}`,
    );
  const own = source.prompts.map(({ index }) => source.batchOf(index));
  const { scored } = source;
  if (own.every((one) => one !== undefined) && own.length > 0)
    return [
      new TrainingBatch(
        own.flatMap((one) => one.trajectories),
        "the file's",
        scored,
      ),
      made,
    ];
  if (scored) return [advantages(scored), made];
  throw new TypeError(`Cannot ${action}: the rollouts must have scores or advantages, got neither`);
}

function madeOf(
  [batch, made]: [TrainingBatch, MadeWith],
  current: readonly ArrayLike<number>[] | undefined,
  { tokenizer, tokens: mostTokens = 50_000 }: ClipTunerOptions,
): ClipTuner {
  const { trajectories } = batch;
  if (trajectories.length === 0)
    throw new RangeError(`Cannot ${action}: the batch must have a trajectory, got none`);
  const odd =
    current &&
    trajectories.findIndex(({ trajectory }, i) => current[i]?.length !== trajectory.tokens.length);
  if (odd !== undefined && odd >= 0)
    throw new RangeError(
      `Cannot ${action}: current must have ${trajectories[odd]!.trajectory.tokens.length} numbers for trajectory ${odd}, got ${current![odd]?.length ?? "none"}`,
    );
  const isMoved =
    current !== undefined || trajectories.some((one) => one.newLogprobs !== undefined);
  if (!isMoved)
    throw new TypeError(
      `Cannot ${action}: there must be log-probabilities of another policy than the one that sampled, got none; give an update's report, or current: a policy that has moved on or its log-probabilities`,
    );
  const payload = tunerPayload(batch, made, { current, tokenizer, mostTokens });
  return new ClipTuner(payload);
}

/**
 * Sliders over stored log-probabilities: clip bounds, importance weights against the sampler, sequence masks, and what top-k,
 * top-p and min-p left. It shows which tokens lose their gradient and what share of the advantage goes with them, computed
 * by the very functions of the loss, in the page.
 *
 * Takes an update's report, its batch, or a batch or imported rollouts with `current`: a policy that has moved on (then it
 * is a promise) or its log-probabilities.
 *
 * @param source an update's report, a batch, or rollouts of other programs
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { advantages, score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { clipTuner } from "arpo-lab/view";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 4, seed: 1 });
 * const batch = advantages(await score(tree, ({ length }) => length));
 * // Usually: clipTuner(await update(policy, batch)). Here every token has become twice as likely.
 * const current = batch.trajectories.map(({ trajectory }) => trajectory.logprobs.map((p) => p + Math.LN2));
 * assert.match(clipTuner(batch, { current }).summary, /above the upper bound/);
 * ```
 */
export function clipTuner(
  source: TrainingBatch | ImportedRollouts,
  options: ClipTunerOptions & {
    /** A policy that has moved on: it is asked for its log-probabilities. Default: none. */
    current: Policy;
  },
): Promise<ClipTuner>;
/** @param source an update's report, a batch, or rollouts of other programs */
export function clipTuner(
  source: TrainingBatch | UpdateReport | ImportedRollouts,
  options?: ClipTunerOptions & {
    /** The log-probabilities of a policy that has moved on. Default: those of the update. */
    current?: readonly ArrayLike<number>[];
  },
): ClipTuner;
export function clipTuner(
  source: TrainingBatch | UpdateReport | ImportedRollouts,
  options: ClipTunerOptions = {},
): ClipTuner | Promise<ClipTuner> {
  checkOptions(action, options, rules);
  const made = batchOf(source);
  const { current } = options;
  if (current === undefined || !("session" in current)) return madeOf(made, current, options);
  return scoredBy(current, made[0]).then((said) => madeOf(made, said, options));
}

/** What a policy says of a batch's tokens. */
async function scoredBy(
  policy: Policy,
  { trajectories, scored }: TrainingBatch,
): Promise<Float32Array[]> {
  if (!policy.logProbs)
    throw new TypeError(
      `Cannot ${action}: current must be a policy that gives log-probabilities, got ${policy.name}`,
    );
  const temperature = scored?.trees[0]?.config.sampling.temperature;
  const rows = trajectories.map(({ trajectory: { prompt, tokens } }) => ({ prompt, tokens }));
  return (await policy.logProbs(rows, defined({ temperature }))).map(({ logprobs }) => logprobs);
}
