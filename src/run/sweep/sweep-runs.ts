import { defined } from "../../../common/options/defined.js";
import { studentInterval } from "../../eval/metrics/interval.js";
import type { LiveCurves } from "../../base/show/live-curves.js";
import { logged, showAs, type Shown } from "../../base/show/show-as.js";
import { plusMinus } from "../../base/text/interval-text.js";
import { textTable } from "../../base/text/text-table.js";
import { duration } from "../../base/show/progress-line.js";
import { type Measure, valueOf } from "../folder/measured.js";
import { sweepCurves } from "./sweep-curves.js";

/** Where a run of a sweep stands. */
export interface SweepRun {
  arm: string;
  seed: number;
  /** The run folder. */
  folder: string;
  state: "waiting" | "running" | "done" | "failed" | "stopped";
  step: number;
  /** The share of it that is done. */
  progress: number;
  /** The figures of its last step; the held-out score is that of the last validation. */
  last: Readonly<Record<string, number>>;
  /** The figures of every step so far. */
  lines?: readonly ({ step: number } & Readonly<Record<string, number>>)[];
  /** Why it failed. */
  error?: string;
  /** Where it says more. */
  log: string;
}

const columns: [label: string, of: (last: SweepRun["last"]) => number | undefined][] = [
  ["steps", (last) => last["training/global_step"]],
  ["tokens", (last) => last["cost/tokens"]],
  ["calls", (last) => last["cost/calls"]],
  ["score", (last) => last["critic/score/mean"]],
  ["held out", (last) => valueOf(last)],
];

/** A mean over seeds with the digits that its interval supports. */
function meanText(values: readonly number[]): string {
  if (values.length === 0) return "";
  const { mean, half } = studentInterval(values);
  return half === 0 ? String(Number(mean.toPrecision(4))) : plusMinus(mean, half);
}

/**
 * The runs of a sweep: `folders` for `compareAt` and `board`, `failed` with their logs. It shows itself as a
 * table of the settings, each with the means over its seeds and their 95% intervals.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { SweepRuns } from "arpo-lab/run";
 *
 * const at = { step: 8, progress: 1, log: "" };
 * const run = (arm: string, seed: number, score: number) =>
 *   ({ ...at, arm, seed, folder: `${arm}/${seed}`, state: "done", last: { "critic/score/mean": score } }) as const;
 * const runs = new SweepRuns("runs", [run("a", 1, 0.5), run("a", 2, 0.6), run("b", 1, 0.4)]);
 * assert.deepEqual(runs.folders, { a: ["a/1", "a/2"], b: ["b/1"] });
 * assert.match(String(runs), /a +2\/2 .* 0\.55 ± 0\.64/);
 * ```
 */
export class SweepRuns {
  /**
   * @param folder the sweep's folder
   * @param runs the runs that it holds
   */
  constructor(
    readonly folder: string,
    readonly runs: readonly SweepRun[],
  ) {}

  /** The folders of the runs that are done, by their arms. */
  get folders(): Record<string, string[]> {
    const folders: Record<string, string[]> = {};
    for (const { arm, state, folder } of this.runs) {
      folders[arm] ??= [];
      if (state === "done") folders[arm].push(folder);
    }
    return folders;
  }

  get failed(): SweepRun[] {
    return this.runs.filter(({ state }) => state === "failed");
  }

  /** A table of the settings, and what failed. */
  toString(): string {
    const arms = [...new Set(this.runs.map(({ arm }) => arm))];
    const rows = arms.map((arm) => {
      const own = this.runs.filter((run) => run.arm === arm);
      const done = own.filter(({ state }) => state === "done");
      const cells = columns.map(([, of]) => meanText(done.flatMap(({ last }) => of(last) ?? [])));
      return [arm, `${done.length}/${own.length}`, ...cells];
    });
    const heads = ["arm", "runs", ...columns.map(([label]) => label)];
    const failed = this.failed.map(
      ({ arm, seed, error, log }) => `${arm}, seed ${seed} failed: ${error}\n  its log: ${log}`,
    );
    return [textTable([heads, ...rows]), ...failed].join("\n");
  }

  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    const done = this.runs.filter(({ state }) => state === "done").length;
    return { group: "Runs", text: `${done} of ${this.runs.length} runs of ${this.folder}` };
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("SweepRuns", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }
}

/** Seconds that are left at the pace of this process, once there is one. */
export function sweepPace(): (runs: readonly SweepRun[]) => number | undefined {
  const began = performance.now();
  let first: number | undefined;
  return (all) => {
    const runs = all.filter(({ state }) => state !== "failed");
    const done = runs.reduce((sum, { progress }) => sum + progress, 0);
    // What an earlier process did says nothing of this one's pace.
    first ??= done;
    const seconds = (performance.now() - began) / 1000;
    return done > first ? ((runs.length - done) * seconds) / (done - first) : undefined;
  };
}

const barWidth = 12;

/**
 * How far a sweep is: arm by arm, in a line that says when it will be done, and as a share; the arms' curves
 * as soon as there are measurements.
 */
export function sweepStatus(
  runs: readonly SweepRun[],
  secondsLeft: number | undefined,
  measure: Measure = {},
): { table: string; line: string; share: number; curves?: LiveCurves } {
  const arms = [...new Set(runs.map(({ arm }) => arm))];
  const rows = arms.map((arm) => {
    const own = runs.filter((run) => run.arm === arm);
    const count = (state: SweepRun["state"]) => own.filter((run) => run.state === state).length;
    const ownShare = own.reduce((sum, { progress }) => sum + progress, 0) / own.length;
    const full = Math.round(barWidth * ownShare);
    const under = own
      .filter(({ state }) => state === "running")
      .map(({ seed, step }) => `seed ${seed} at step ${step}`);
    const failed = count("failed");
    return [
      arm,
      `${count("done")}/${own.length}`,
      `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${Math.round(100 * ownShare)}%`,
      [...under, ...(failed > 0 ? [`${failed} failed`] : [])].join(", "),
    ];
  });
  const done = runs.filter(({ state }) => state === "done").length;
  const share = runs.reduce((sum, { progress }) => sum + progress, 0) / runs.length;
  const left = secondsLeft === undefined ? "" : ` · ETA ${duration(secondsLeft)}`;
  const line = `${done} of ${runs.length} runs done · ${Math.round(100 * share)}%${left}`;
  const table = textTable([["arm", "done", "progress", "now"], ...rows], "left");
  return { table, line, share, ...defined({ curves: sweepCurves(runs, measure) }) };
}
