import { basename } from "node:path";
import { defined } from "../../../common/options/defined.js";
import { studentInterval } from "../../../src/eval/metrics/interval.js";
import { compareAt, type CompareAtOptions } from "../../../src/run/compare/compare-at.js";
import { plusMinus } from "../../../src/base/text/interval-text.js";
import { textCurve } from "../../../src/base/text/text-curve.js";
import { RunFolder } from "../../../src/run/folder/run-folder.js";
import { nearest } from "../../../common/options/nearest.js";
import type { MetricLine } from "../../../src/view/figures/curves.js";
import { compareRuns as figureOf } from "../../../src/view/figures/curves.js";
import { saveFigure } from "../../../src/view/export/save-figure.js";
import { say } from "../terminal/say.js";

/** Runs under one name: the seeds of one setting. */
interface Group {
  name: string;
  runs: MetricLine[][];
}

const curveWidth = 24;

/** `folder`, or `name=folder,folder` for the seeds of one setting: its name and its folders. */
function foldersOf(text: string): [name: string, folders: string[]] {
  const [, given, folders = text] = /^([^=/]+)=(.+)$/.exec(text) ?? [];
  const paths = given === undefined ? [text] : folders.split(",");
  return [given ?? basename(paths[0]!), paths];
}

/** Runs of one setting, read. */
async function readGroup(text: string): Promise<Group> {
  const [name, paths] = foldersOf(text);
  const runs = await Promise.all(
    paths.map(async (path) => (await (await RunFolder.existing(path)).metrics()) as MetricLine[]),
  );
  return { name, runs };
}

/** Means over the seeds, at the steps that all of them have. */
function curve(
  { runs }: Group,
  metric: string,
): { step: number; value: number; values: number[] }[] {
  const byStep = new Map<number, number[]>();
  for (const line of runs.flat()) {
    const value = line[metric];
    if (typeof value !== "number") continue;
    byStep.set(line.step, [...(byStep.get(line.step) ?? []), value]);
  }
  return [...byStep]
    .filter(([, values]) => values.length === runs.length)
    .map(([step, values]) => ({
      step,
      values,
      value: values.reduce((a, b) => a + b) / values.length,
    }))
    .sort((a, b) => a.step - b.step);
}

/** A mean over seeds with half of its 95% interval. */
function interval(values: readonly number[]): string {
  const { mean, half } = studentInterval(values);
  return plusMinus(mean, half);
}

const short = (value: number) => String(Number(value.toPrecision(4)));

function printMetric(metric: string, groups: readonly Group[]): void {
  const curves = groups.map((group) => ({ group, points: curve(group, metric) }));
  const all = curves.flatMap(({ points }) => points.map(({ value }) => value));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const width = Math.max(4, ...groups.map(({ name }) => name.length)) + 2;
  const head = ["first", "last", "highest", "at"].map((t) => t.padStart(9)).join("");
  say(`\n${metric}\n${"".padEnd(width)}${"curve".padEnd(curveWidth)}${head}`);
  for (const { group, points } of curves) {
    const last = points.at(-1)?.values;
    const seeds =
      last !== undefined && last.length > 1
        ? `  mean of ${last.length} seeds; last ${interval(last)} (95%)`
        : "";
    if (points.length === 0) {
      say(`${group.name.padEnd(width)}not measured`);
      continue;
    }
    const values = points.map(({ value }) => value);
    const highest = points.reduce((a, b) => (b.value > a.value ? b : a));
    const cells = [
      short(values[0]!),
      short(values.at(-1)!),
      short(highest.value),
      String(highest.step),
    ];
    say(
      `${group.name.padEnd(width)}${textCurve(values, { low, high, width: curveWidth }).padEnd(curveWidth)}${cells.map((c) => c.padStart(9)).join("")}${seeds}`,
    );
  }
}

/** Draws the curves of one metric, with intervals where there are seeds. */
async function draw(path: string, metric: string, groups: readonly Group[]): Promise<void> {
  const named = Object.fromEntries(groups.map(({ name, runs }) => [name, runs]));
  const figure = figureOf(named, { metric });
  await saveFigure(path, figure);
  say(`\n${figure.layout.meta.description}\ndrawn: ${path}`);
}

/** Settings at equal cost, paired by seed. */
async function printAt(runs: readonly string[], options: CompareCommand): Promise<void> {
  const { at, x, margin, against, metric } = options;
  const named = runs.map((text): [string, string[]] => {
    const [name, folders] = foldersOf(text);
    return [name, folders];
  });
  const how = defined({ x, margin, against, metric: metric[0] }) as Partial<CompareAtOptions>;
  say(String(await compareAt(Object.fromEntries(named), { ...how, at: at! })));
}

interface CompareCommand {
  metric: string[];
  out?: string;
  at?: number;
  x?: string;
  against?: string;
  margin?: number;
}

/** `arpo-lab compare`: where runs began, where they ended, their highest, and their curves. */
export async function compareRuns(runs: string[], options: CompareCommand): Promise<void> {
  if (options.at !== undefined) return printAt(runs, options);
  const groups = await Promise.all(runs.map(readGroup));
  const names = new Set(groups.flatMap(({ runs: all }) => all.flat().flatMap(Object.keys)));
  names.delete("step");
  for (const metric of options.metric) {
    if (names.has(metric)) continue;
    const near = nearest(metric, names);
    throw new RangeError(
      `Cannot compare runs: one of them must have the metric, got ${metric}${near ? `; did you mean ${near}?` : ""}`,
    );
  }
  const core = [...names].filter((name) => /^val-core\//.test(name)).sort();
  const usual = ["critic/score/mean", "response_length/mean", "tools/total_calls"];
  const metrics =
    options.metric.length > 0
      ? options.metric
      : [...core, ...usual.filter((name) => names.has(name))];
  for (const metric of metrics) printMetric(metric, groups);
  if (options.out !== undefined && metrics.length > 0) await draw(options.out, metrics[0]!, groups);
}
