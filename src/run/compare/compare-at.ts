import { homePath } from "../../base/files/home-path.js";
import { join } from "#platform/path";
import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  fromTo,
  oneOf,
  type OptionRules,
  positive,
  required,
} from "../../../common/options/check-options.js";
import { interpolated } from "../../eval/metrics/interpolated.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import { logged } from "../../base/show/show-as.js";
import { plusMinus } from "../../base/text/interval-text.js";
import { textTable } from "../../base/text/text-table.js";
import { RunFolder } from "../folder/run-folder.js";
import { SweepRuns } from "../sweep/sweep-runs.js";
import type { TrainingRun } from "../trainer/training-run.js";
import { type Line, measured } from "../folder/measured.js";
import { equivalence, holm, pairedStatistics, type PairedStatistics, seedsFor } from "./paired.js";

/** A run that is compared: made in a cell, a run folder, or lines of metrics. */
type ComparedRun = TrainingRun | string | readonly Line[];

export interface CompareAtOptions {
  /** What the runs are held to equal amounts of. Default: tokens. */
  x?: "tokens" | "calls" | "trajectories" | "steps";
  /** How much of it. */
  at: number;
  /** Default: the held-out score, the mean over its sources. */
  metric?: string;
  /** The setting that the others are compared with. Default: the first. */
  against?: string;
  /**
   * Differences within this on both sides count as none: adds a test of equivalence. Default: none,
   * no such test.
   */
  margin?: number;
  /** The difference that `seedsFor` is asked about in the table. Default: 0.05. */
  difference?: number;
}

const rules: OptionRules<CompareAtOptions> = {
  x: oneOf(["tokens", "calls", "trajectories", "steps"]),
  at: required(fromTo(0, Infinity)),
  metric: "text?",
  against: "text?",
  margin: positive,
  difference: positive,
};

/** A setting at the place that was asked for. */
interface ArmAt extends PairedStatistics {
  arm: string;
  /** The value of each seed. */
  values: ReadonlyMap<number, number>;
}

/** A setting less the one that it is compared with, paired by seed. */
interface DifferenceAt extends PairedStatistics {
  arm: string;
  against: string;
  /** Corrected for the number of comparisons (Holm). */
  pHolm: number;
  /** The larger p of the two one-sided tests, corrected the same way; where there is a margin. */
  pEquivalent?: number;
  /** Seeds that find such a difference with this power (two-sided, 5%), by the deviation seen here. */
  seedsFor: (difference: number, power?: number) => number;
}

/**
 * Settings at equal cost: `arms` with their means, `differences` paired by seed. It shows itself as a table
 * with the digits that the intervals support.
 */
class Comparison {
  constructor(
    readonly arms: readonly ArmAt[],
    readonly differences: readonly DifferenceAt[],
    readonly options: CompareAtOptions,
  ) {}

  toString(): string {
    const { x = "tokens", at, metric = "held-out score", margin, difference = 0.05 } = this.options;
    const half = ({ low, high }: PairedStatistics) => (high - low) / 2;
    const p = (value: number) =>
      Number.isNaN(value) ? "" : value < 0.001 ? "<0.001" : value.toFixed(3);
    const ends = ({ low, high }: { low: number; high: number }) => {
      if (Number.isNaN(low)) return "";
      const places = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10((high - low) / 2 || 1))));
      return `[${low.toFixed(places)}, ${high.toFixed(places)}]`;
    };
    const arms = this.arms.map((arm) => [arm.arm, `${arm.n}`, plusMinus(arm.mean, half(arm))]);
    const rows = this.differences.map((d) => [
      `${d.arm} - ${d.against}`,
      `${d.n}`,
      plusMinus(d.mean, half(d)),
      ends(d.bootstrap),
      p(d.p),
      p(d.pHolm),
      ...(margin === undefined ? [] : [p(d.pEquivalent!)]),
      Number.isNaN(d.deviation) ? "" : String(d.seedsFor(difference)),
    ]);
    const heads = [
      ...["difference", "seeds", "mean, 95%", "bootstrap", "p", "p (Holm)"],
      ...(margin === undefined ? [] : [`p (|d| < ${margin})`]),
      `seeds for ${difference}`,
    ];
    return [
      `${metric} at ${at.toLocaleString("en")} ${x}`,
      textTable([["setting", "seeds", "mean, 95%"], ...arms]),
      ...(rows.length === 0 ? [] : ["", textTable([heads, ...rows])]),
    ].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Record<string, string> {
    return { "text/plain": this.toString() };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}

/** A run's lines, and the seed that pairs it: its place among its setting's where nobody says. */
async function linesOf(
  run: ComparedRun,
  place: number,
): Promise<{ seed: number; lines: readonly Line[] }> {
  if (typeof run === "string") {
    const lines = (await (await RunFolder.existing(run)).metrics()) as Line[];
    const config = await readIfThere(join(homePath(run), "config.yaml"));
    const { parse } = await import("yaml");
    const read = parse(config ?? "") as { lab?: { seed?: number } } | null;
    return { seed: read?.lab?.seed ?? place, lines };
  }
  if (!("trainer" in run)) return { seed: place, lines: run };
  const lines = new Map<number, Line>();
  const add = (step: number, found: object) =>
    lines.set(step, { ...lines.get(step), ...found, step });
  for (const { step, metrics } of run.validation) add(step, metrics);
  for (const { step, metrics } of run.steps) add(step, metrics);
  const sorted = [...lines.values()].sort((a, b) => a.step - b.step);
  return { seed: run.trainer.parts.config.lab.seed, lines: sorted };
}

/** A run's value at a place of its cost, on the line between the two measurements around it. */
function valueAt(lines: readonly Line[], options: CompareAtOptions, name: string): number {
  const { x = "tokens", at, metric } = options;
  const points = measured(lines, options);
  const value = interpolated(points, at);
  if (value !== undefined) return value;
  const range =
    points.length === 0
      ? "no measurement with its cost"
      : `measurements from ${points[0]!.x} to ${points.at(-1)!.x}`;
  throw new RangeError(
    `Cannot compare at ${at} ${x}: ${name} must have measured ${metric ?? "the held-out score"} before and after, got ${range}`,
  );
}

/** Runs by name, a list being the seeds of a setting. */
type ComparedRuns = SweepRuns | Readonly<Record<string, readonly ComparedRun[]>>;

/**
 * Compares settings at equal cost. The metric of each run is interpolated linearly at a number of tokens, calls,
 * trajectories or steps. Differences are paired by seed. Each has a t interval and a bootstrap interval (95%),
 * Holm's correction, an equivalence test, and the number of seeds that the difference needs.
 *
 * @param runs the runs of each setting, one per seed
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compareAt } from "arpo-lab/run";
 *
 * // Usually: compareAt(await sweep(…), { at: 20_000, margin: 0.03 }).
 * const run = (end: number) =>
 *   [0, 1].map((step) => ({ step, "cost/tokens": 1000 * step, "critic/score/mean": end * step }));
 * const { differences } = await compareAt(
 *   { fresh: [run(0.4), run(0.6)], trees: [run(0.5), run(0.9)] },
 *   { at: 500, metric: "critic/score/mean" },
 * );
 * assert.ok(Math.abs(differences[0].mean - 0.1) < 1e-12);
 * ```
 */
export async function compareAt(
  runs: ComparedRuns,
  options: CompareAtOptions,
): Promise<Comparison> {
  checkArguments("compare runs", { runs }, { runs: "object" });
  checkOptions("compare runs", options, rules);
  const named: Readonly<Record<string, readonly ComparedRun[]>> =
    runs instanceof SweepRuns ? runs.folders : runs;
  const names = Object.keys(named);
  if (names.length === 0)
    throw new RangeError("Cannot compare runs: runs must have at least one setting, got none");
  const { against = names[0]!, margin } = options;
  if (!Object.hasOwn(named, against)) {
    throw new RangeError(
      `Cannot compare runs: against must be one of ${names.join(", ")}, got ${against}`,
    );
  }
  const arms: ArmAt[] = [];
  for (const arm of names) {
    const values = new Map<number, number>();
    for (const [i, run] of named[arm]!.entries()) {
      const { seed, lines } = await linesOf(run, i + 1);
      if (values.has(seed)) {
        throw new RangeError(
          `Cannot compare runs: ${arm} must have each seed once, got ${seed} twice`,
        );
      }
      values.set(seed, valueAt(lines, options, `${arm}, seed ${seed}`));
    }
    arms.push({ arm, values, ...pairedStatistics([...values.values()]) });
  }
  const base = arms.find(({ arm }) => arm === against)!;
  const pairs = arms.flatMap((arm) => {
    if (arm === base) return [];
    const own = [...arm.values].filter(([seed]) => base.values.has(seed));
    if (own.length === 0) {
      throw new RangeError(
        `Cannot compare runs: ${arm.arm} and ${against} must share a seed, got none`,
      );
    }
    return [
      { arm: arm.arm, found: pairedStatistics(own.map(([s, v]) => v - base.values.get(s)!)) },
    ];
  });
  const corrected = holm(pairs.map(({ found }) => found.p));
  const equivalent =
    margin === undefined ? undefined : holm(pairs.map(({ found }) => equivalence(found, margin)));
  const differences = pairs.map(({ arm, found }, i): DifferenceAt => ({
    ...{ arm, against, ...found, pHolm: corrected[i]! },
    ...(equivalent ? { pEquivalent: equivalent[i]! } : {}),
    seedsFor: (difference, power = 0.8) => seedsFor(found.deviation, difference, power),
  }));
  return new Comparison(arms, differences, options);
}
