import { isRecord } from "../../../common/options/is-record.js";
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { parse } from "yaml";
import { defined } from "../../../common/options/defined.js";
import type { ConfigPreset } from "../../../src/run/config/presets.js";
import { compareAt, type CompareAtOptions } from "../../../src/run/compare/compare-at.js";
import type { Measure } from "../../../src/run/folder/measured.js";
import { sweep } from "../../../src/run/sweep/sweep.js";
import type { SweepOptions } from "../../../src/run/sweep/sweep-options.js";
import {
  sweepPace,
  type SweepRun,
  type SweepRuns,
  sweepStatus,
} from "../../../src/run/sweep/sweep-runs.js";
import { printable } from "../../../src/base/text/printable.js";
import { curvesText } from "../../../src/view/status/curves-text.js";
import { seeds as parseSeeds } from "../terminal/values.js";
import { liveLines } from "../terminal/live-lines.js";
import { say } from "../terminal/say.js";
import { stoppable } from "../terminal/stopping.js";

/** Runs a sweep under one live table, or a line for each run that begins and ends where it is no terminal. */
async function drive(options: SweepOptions, measure: Measure = {}): Promise<SweepRuns> {
  const live = liveLines(process.stdout);
  const pace = sweepPace();
  const told = new Map<string, SweepRun["state"]>();
  const onChange = ({ runs }: SweepRuns) => {
    for (const run of runs) {
      const name = `${run.arm}, seed ${run.seed}`;
      const before = told.get(name);
      told.set(name, run.state);
      if (run.state === before || run.state === "waiting") continue;
      // What an earlier call did is in the table.
      if (before === undefined && run.state === "done") continue;
      const more = run.state === "failed" ? `: ${run.error}; its log: ${run.log}` : "";
      live.print(printable(`${name} ${run.state === "running" ? "begins" : run.state}${more}`));
    }
    const { table, line, curves } = sweepStatus(runs, pace(runs), measure);
    live.set([table, ...(curves ? [curvesText(curves)] : []), line].join("\n"));
  };
  try {
    return await sweep({ ...options, onChange, signal: stoppable("behind a step") });
  } finally {
    live.set("");
  }
}

/** Says what came of a sweep; a run that failed makes the command fail. */
async function conclude(runs: SweepRuns, compare?: CompareAtOptions): Promise<void> {
  say(String(runs));
  if (compare !== undefined) say(`\n${String(await compareAt(runs, compare))}\n`);
  say(`everything is in ${runs.folder}`);
  const { failed, runs: all } = runs;
  if (failed.length === 0) return;
  throw new Error(
    `Cannot finish the sweep: ${failed.length} of ${all.length} runs failed; the same command tries them again`,
  );
}

/** `arpo-lab sweep`. */
export async function sweepFromFile(
  path: string,
  options: { out?: string; processes?: number; ray?: string; seeds?: number[] },
): Promise<void> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot sweep: ${path} must be a readable file, got ${error.code}`);
  });
  const file = parse(text) as unknown;
  if (!isRecord(file)) {
    throw new RangeError(`Cannot sweep: ${path} must hold keys such as arms and seeds, got none`);
  }
  const { seeds, compare, ...given } = file;
  const how = {
    folder: join("runs", basename(path, extname(path))),
    ...given,
    seeds: typeof seeds === "string" ? parseSeeds(seeds) : seeds,
    ...defined({ ...options, folder: options.out, out: undefined }),
  } as unknown as SweepOptions;
  const asked = (compare ?? undefined) as CompareAtOptions | undefined;
  await conclude(await drive(how, asked), asked);
}

/** `arpo-lab train --seeds`. */
export async function trainSeeds(
  overrides: string[],
  options: { config: string[]; preset: string[]; out?: string; seeds: number[] },
): Promise<void> {
  const { config: files, preset, seeds, out } = options;
  if (out === undefined)
    throw new RangeError("Cannot train: --seeds needs --out, a folder for the runs, got none");
  const shared = { files, overrides, preset: preset as ConfigPreset[] };
  await conclude(await drive({ ...shared, arms: { run: {} }, seeds, folder: out }));
}
