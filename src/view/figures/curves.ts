import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import { checkArguments, kinds, shown } from "../../../common/options/check-arguments.js";
import { checkOptions, texts } from "../../../common/options/check-options.js";
import { rangeSeen, studentInterval } from "../../eval/metrics/interval.js";
import { passAtK } from "../../eval/metrics/pass-at-k.js";
import { plusMinus } from "../../base/text/interval-text.js";
import type { CurvePanel, PanelCurve } from "../draw/draw-panel.js";
import { withCurves } from "./curve-picture.js";
import { curve, type Figure, type FigureOptions, figureRules, makeFigure, said } from "./figure.js";

/** One step's metrics, as a run folder keeps them. */
export type MetricLine = { step: number } & Record<string, unknown>;

/** A training run's metrics: lines of a run folder, or a run made in a cell. */
export type RunMetrics =
  | readonly MetricLine[]
  | { readonly steps: readonly { step: number; metrics: Readonly<Record<string, number>> }[] };

/** One metric over the steps that have it. */
export function curveOf(run: RunMetrics, metric: string): { step: number; value: number }[] {
  const lines: readonly MetricLine[] =
    "steps" in run ? run.steps.map(({ step, metrics }) => ({ ...metrics, step })) : run;
  return lines.flatMap((line) => {
    const value = line[metric];
    return typeof value === "number" && Number.isFinite(value) ? [{ step: line.step, value }] : [];
  });
}

/** Metrics that are scores or shares of something. */
const isScore =
  /^(?:critic\/(?:score|rewards)|val-(?:core|aux)|reward)\/|(?:score|reward)$|clipfrac|success_rate/;

/** Metrics of what is counted or measured from 0 up. */
const isNeverNegative = /entropy_loss$|grad_norm$|(?:^|_|\/)(?:length|tokens|calls|timing_s)\//;

/** Where the mean of a metric can be: of a score, by what runs say of it and of the smallest and the greatest of a step. */
export function rangeOf(
  seeds: readonly RunMetrics[],
  metric: string,
): [number, number] | undefined {
  // Payloads are JSON, which has no Infinity.
  if (isNeverNegative.test(metric)) return [0, Number.MAX_VALUE];
  if (!isScore.test(metric)) return undefined;
  const names = [metric, metric.replace(/mean$/, "min"), metric.replace(/mean$/, "max")];
  return rangeSeen(
    names.flatMap((name) => seeds.flatMap((run) => curveOf(run, name).map(({ value }) => value))),
  );
}

/** A metric's mean over the seeds that have come to a step, and half its 95% interval (Student's t). */
export function meansByStep(seeds: readonly RunMetrics[], metric: string) {
  const byStep = new Map<number, number[]>();
  for (const { step, value } of seeds.flatMap((run) => curveOf(run, metric))) {
    byStep.set(step, [...(byStep.get(step) ?? []), value]);
  }
  return [...byStep]
    .sort(([a], [b]) => a - b)
    .map(([step, values]) => ({ step, count: values.length, ...studentInterval(values) }));
}

const titles: Readonly<Record<string, string>> = {
  "critic/score/mean": "mean score",
  "critic/score/max": "greatest score",
  "critic/score/min": "smallest score",
  "actor/entropy_loss": "entropy, nats",
  "actor/ppo_kl": "KL in the update",
  "actor/kl_loss": "KL from the reference",
  "actor/pg_loss": "policy loss",
  "actor/pg_clipfrac": "share of clipped tokens",
  "actor/grad_norm": "gradient norm",
  "response_length/mean": "tokens of a response",
};

/** What a metric is called on an axis and in words; its key where it has no other name. */
export function metricTitle(metric: string): string {
  // `val-core/calc/reward/mean@4`: the data source, and what is made of so many answers to each question.
  const [, source, figure, count] =
    /^val-(?:core|aux)\/(.+)\/[^/]+\/([a-z]+)(?:@(\d+))?$/.exec(metric) ?? [];
  if (source === undefined) return titles[metric] ?? metric;
  const of = count === undefined || count === "1" ? "" : ` of ${count} answers`;
  return `held-out score, ${source}${figure === "mean" && of === "" ? "" : ` (${figure}${of})`}`;
}

/** Refuses what is no lists of seeds by name; a folder gets the call that reads its metrics. */
function checkSeeds(runs: unknown): void {
  const form = "runs must be { name: [metrics of a seed, …] }";
  const read = (path: string) =>
    `; a run folder is read first: { name: [await (await RunFolder.existing(${JSON.stringify(path)})).metrics()] }`;
  if (!isRecord(runs)) {
    const hint = typeof runs === "string" ? read(runs) : "";
    throw new TypeError(`Cannot compare runs: ${form}, got ${shown(runs)}${hint}`);
  }
  for (const [name, seeds] of Object.entries(runs)) {
    if (Array.isArray(seeds) && seeds.every(kinds.run[1])) continue;
    const odd: unknown = Array.isArray(seeds) ? seeds.find((seed) => !kinds.run[1](seed)) : seeds;
    const hint = typeof odd === "string" ? read(odd) : "";
    const list = kinds.run[1](odd) ? `; write { ${JSON.stringify(name)}: [run] }` : hint;
    throw new TypeError(
      `Cannot compare runs: ${form}, got ${shown(odd)} for ${JSON.stringify(name)}${list}`,
    );
  }
}

/**
 * Runs side by side: for each name the mean over its seeds at every step that all of them have, and
 * the mean's 95% confidence interval (Student's t).
 *
 * @param runs the metrics of every seed, by the setting's name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compareRuns, describe } from "arpo-lab/view";
 *
 * const seed = (value: number) => [{ step: 1, "critic/score/mean": value }];
 * const figure = compareRuns({ arpo: [seed(0.4), seed(0.6)], grpo: [seed(0.3)] });
 * assert.equal(
 *   describe(figure),
 *   "mean score at the last step: arpo 0.5 ± 1.3 (2 seeds, 95%), grpo 0.3 (1 seed, no interval).",
 * );
 * ```
 */
export function compareRuns(
  runs: Readonly<Record<string, readonly RunMetrics[]>>,
  options: FigureOptions & {
    /** Which metric is drawn. Default: `critic/score/mean`. */
    metric?: string;
  } = {},
): Figure {
  checkSeeds(runs);
  checkOptions("compare runs", options, { ...figureRules, metric: "text?" });
  const { metric = "critic/score/mean" } = options;
  const data: Record<string, unknown>[] = [];
  const words: string[] = [];
  const curves: PanelCurve[] = [];
  const title = metricTitle(metric);
  for (const [i, [name, seeds]] of Object.entries(runs).entries()) {
    // A mean over fewer seeds than its neighbours would jump for no reason.
    const points = meansByStep(seeds, metric).filter(({ count }) => count === seeds.length);
    const x = points.map(({ step }) => step);
    if (x.length === 0) {
      throw new RangeError(
        `Cannot compare runs: the seeds of ${name} must share a step with ${metric}, got none`,
      );
    }
    const own = { x, legendgroup: name };
    const mean = curve(options, i, { ...own, y: points.map((p) => p.mean), name });
    data.push(mean);
    const last = points.at(-1)!;
    const line = { run: i, label: title, x, y: points.map((p) => p.mean) };
    if (seeds.length === 1) {
      curves.push(line);
      words.push(`${name} ${said(last.mean)} (1 seed, no interval)`);
      continue;
    }
    const { color } = mean.line;
    const style = { type: "scatter", mode: "lines", ...own, showlegend: false };
    const edge = { ...style, line: { color, width: 0 }, hoverinfo: "skip" };
    const [low, high] = [-1, 1].map((side) => points.map((p) => p.mean + side * p.half));
    curves.push({ ...line, ...defined({ low, high, range: rangeOf(seeds, metric) }) });
    data.push(
      { ...edge, name: `${name}, low`, y: low },
      { ...edge, name: `${name}, high`, y: high, fill: "tonexty", fillcolor: `${color}33` },
    );
    words.push(`${name} ${plusMinus(last.mean, last.half)} (${seeds.length} seeds, 95%)`);
  }
  const description = `${title} at the last step: ${words.join(", ")}.`;
  const figure = makeFigure(data, { title, x: "step", y: title, description }, options);
  const counts = [...new Set(Object.values(runs).map(({ length }) => length))].filter((n) => n > 1);
  const bands = counts.length === 0 ? [] : [bandWords(counts, isScore.test(metric))];
  const panel = { title, help: "", stacked: false, labels: [title], curves };
  return withCurves(figure, { runs: Object.keys(runs), panels: [panel], below: bands }, options);
}

const bandWords = (seeds: readonly number[], isBounded: boolean): string =>
  `Band: 95% interval of the mean over ${seeds.join(" or ")} seeds (Student's t)${isBounded ? ", within the range of scores" : ""}.`;

const usual = ["critic/score/mean", "critic/score/max", "critic/score/min"];

/** The held-out scores that a run has measured. */
function heldOutOf(run: RunMetrics): string[] {
  const lines = "steps" in run ? run.steps.map(({ metrics }) => metrics) : run;
  const names = new Set(lines.flatMap((line) => Object.keys(line)));
  return [...names].filter((name) => /^val-core\/.+\/mean@\d+$/.test(name)).sort();
}

type Points = readonly { step: number; value: number }[];

/** Without news: the same at each of several steps. */
const isFlat = (points: Points): boolean =>
  points.length > 2 && points.every(({ value }) => value === points[0]!.value);
const flatWords = (name: string, points: Points): string =>
  `${name} is ${said(points[0]!.value)} at every step.`;

/** What is measured in the same unit, and stands in one panel. */
function panelOf(metric: string): string {
  if (isScore.test(metric) && !metric.endsWith("clipfrac")) return "score";
  return /^(?:held-out )?loss$/.test(metric) ? "loss" : metricTitle(metric);
}

/** Curves of one unit in a panel each; what has no news as a line of text; the range of a step's scores as a band. */
function panelsOf(all: readonly { metric: string; name: string; points: Points }[]) {
  const points = (metric: string) => all.find((one) => one.metric === metric)?.points;
  const [mean, high, low] = usual.map(points);
  const hasBand = mean !== undefined && high?.length === mean.length && low?.length === mean.length;
  const isEdge = (metric: string) => hasBand && usual.slice(1).includes(metric);
  const drawn = all.filter(({ metric, points: own }) => !isEdge(metric) && !isFlat(own));
  const titles = [...new Set(drawn.map(({ metric }) => panelOf(metric)))];
  const panels = titles.map((title): CurvePanel => {
    const own = drawn.filter(({ metric }) => panelOf(metric) === title);
    const curves = own.map(({ metric, name, points: at }): PanelCurve => {
      const values = (list: Points) => list.map(({ value }) => value);
      const band = hasBand && metric === usual[0] ? { low: values(low), high: values(high) } : {};
      return { run: 0, label: name, x: at.map(({ step }) => step), y: values(at), ...band };
    });
    return { title, help: "", stacked: false, labels: own.map(({ name }) => name), curves };
  });
  const flat = all.filter(({ metric, points: own }) => !isEdge(metric) && isFlat(own));
  const hasMean = hasBand && !isFlat(mean);
  const below = [
    ...flat.map(({ name, points: own }) => flatWords(name, own)),
    ...(hasMean ? ["Band: from the smallest to the greatest score of the step."] : []),
  ];
  return { panels, below };
}

/**
 * A run's metrics over its steps: by default the scores.
 *
 * @param run the run's metrics, one record per step
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { describe, rewardCurves } from "arpo-lab/view";
 *
 * const lines = [0.25, 0.5].map((value, i) => ({ step: i + 1, "critic/score/mean": value }));
 * const run = { steps: lines.map(({ step, ...metrics }) => ({ step, metrics })) };
 * assert.equal(describe(rewardCurves(run)), describe(rewardCurves(lines)));
 * assert.equal(
 *   describe(rewardCurves(lines)),
 *   "mean score goes from 0.25 at step 1 to 0.5 at step 2.",
 * );
 * ```
 */
export function rewardCurves(
  run: RunMetrics,
  options: FigureOptions & {
    /** Which metrics are drawn. Default: the mean, the greatest and the smallest score, and held-out scores. */
    metrics?: readonly string[];
  } = {},
): Figure {
  checkArguments("draw rewards", { run }, { run: "run" });
  checkOptions("draw rewards", options, { ...figureRules, metrics: texts });
  const { metrics = [...usual, ...heldOutOf(run)] } = options;
  const curves = metrics
    .map((metric) => ({ metric, name: metricTitle(metric), points: curveOf(run, metric) }))
    .filter(({ points }) => points.length > 0);
  if (curves.length === 0) {
    throw new RangeError(
      `Cannot draw curves: the run must have one of ${metrics.join(", ")}, got none of them`,
    );
  }
  const sentences = curves.map(({ name, points }) => {
    const [first, last] = [points[0]!, points.at(-1)!];
    if (isFlat(points)) return flatWords(name, points);
    return `${name} goes from ${said(first.value)} at step ${first.step} to ${said(last.value)} at step ${last.step}.`;
  });
  const figure = makeFigure(
    curves.map(({ name, points }, i) =>
      curve(options, i, {
        mode: points.length === 1 ? "markers" : "lines",
        name,
        x: points.map(({ step }) => step),
        y: points.map(({ value }) => value),
      }),
    ),
    { title: "Training", x: "step", y: "value", description: sentences.join(" ") },
    options,
  );
  return withCurves(figure, { runs: [""], ...panelsOf(curves) }, options);
}

/**
 * pass@k over k, the mean of the unbiased estimate over tasks: one curve per name.
 *
 * @param groups samples and right ones among them per task, by name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { passAtKCurve } from "arpo-lab/view";
 *
 * const figure = passAtKCurve({ arpo: [{ n: 4, correct: 2 }, { n: 4, correct: 0 }] });
 * assert.deepEqual(figure.data[0].x, [1, 2, 3, 4]);
 * assert.equal((figure.data[0].y as number[])[0], 0.25);
 * ```
 */
export function passAtKCurve(
  groups: Readonly<Record<string, readonly { n: number; correct: number }[]>>,
  options: FigureOptions = {},
): Figure {
  checkArguments("draw pass@k", { groups }, { groups: "object" });
  checkOptions("draw pass@k", options, figureRules);
  const curves = Object.entries(groups).map(([name, tasks]) => {
    if (tasks.length === 0) {
      throw new RangeError(`Cannot draw pass@k: ${name} must have a task, got none`);
    }
    const most = Math.min(...tasks.map(({ n }) => n));
    const x = Array.from({ length: most }, (_, i) => i + 1);
    const mean = (k: number) =>
      tasks.reduce((sum, { n, correct }) => sum + passAtK({ n, correct, k }), 0) / tasks.length;
    return { name, x, y: x.map(mean) };
  });
  const counts = [...new Set(Object.values(groups).map((tasks) => tasks.length))];
  const over = `${counts.join(" or ")} task${counts.length === 1 && counts[0] === 1 ? "" : "s"}`;
  const words = curves.map(
    ({ name, x, y }) =>
      `${name} rises from ${said(y[0]!)} at k = 1 to ${said(y.at(-1)!)} at k = ${x.at(-1)}`,
  );
  return makeFigure(
    curves.map((own, i) => curve(options, i, { mode: "lines+markers", ...own })),
    {
      title: "pass@k",
      x: "k",
      y: "chance that one of k is right",
      description: `pass@k over ${over}: ${words.join("; ")}.`,
    },
    options,
    { yaxis: { range: [0, 1.02] } },
  );
}
