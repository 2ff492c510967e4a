import { basename, join } from "#platform/path";
import { sha256 } from "#platform/sha256";
import { checkOptions, required } from "../../../common/options/check-options.js";
import { homePath } from "../../base/files/home-path.js";
import { loadConfig } from "../config/load.js";
import type { LoadOptions } from "../config/options.js";
import type { ConfigPreset } from "../config/presets.js";
import type { Config } from "../config/schema.js";
import type { RunLine } from "../loggers/json-lines.js";
import { armRule, type SweepArm, type SweepOptions } from "./sweep-options.js";

/** A run of a sweep: one setting with one seed. */
export interface PlannedRun {
  arm: string;
  seed: number;
  /** `ARM/seed-SEED`. */
  id: string;
  /** The run folder. */
  folder: string;
  load: LoadOptions;
  config: Config;
  /** Tells whether the settings are those that the run was begun with. */
  print: string;
}

const listed = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** An arm's settings over those that all share: a method's preset comes before a size's. */
function loadOf(shared: SweepArm, own: SweepArm | readonly string[], added: string[]): LoadOptions {
  const arm: SweepArm = Array.isArray(own)
    ? { overrides: own as readonly string[] }
    : (own as SweepArm);
  const preset = [...listed<ConfigPreset>(arm.preset), ...listed<ConfigPreset>(shared.preset)];
  return {
    preset: preset.length > 0 ? preset : ["arpo", "tiny"],
    files: [...(shared.files ?? []), ...(arm.files ?? [])],
    overrides: [...added, ...(shared.overrides ?? []), ...(arm.overrides ?? [])],
  };
}

/** Tells settings apart by what they say besides the defaults. */
export async function printOf(config: Config): Promise<string> {
  const { chosenSettings } = await import("../config/load-and-check.js");
  return sha256(JSON.stringify(chosenSettings(config)));
}

/** The paths of settings that two configurations have otherwise. */
export async function changedSettings(before: Config, now: Config): Promise<string[]> {
  const { chosenSettings } = await import("../config/load-and-check.js");
  const [old, own] = [before, now].map(
    (config) =>
      new Map(chosenSettings(config).map(([path, value]) => [path, JSON.stringify(value)])),
  ) as [Map<string, string>, Map<string, string>];
  const paths = [...new Set([...old.keys(), ...own.keys()])];
  return paths.filter((path) => old.get(path) !== own.get(path));
}

/** Every run of a sweep, arm by arm; what is wrong with a setting is told before any run begins. */
export async function planOf(options: SweepOptions): Promise<PlannedRun[]> {
  const { arms, seeds } = options;
  const folder = homePath(options.folder);
  const names = Object.keys(arms);
  if (names.length === 0)
    throw new RangeError("Cannot sweep: arms must have at least one, got none");
  if (seeds.length === 0 || new Set(seeds).size < seeds.length) {
    throw new RangeError(
      `Cannot sweep: seeds must be at least one, each once, got [${seeds.join(", ")}]`,
    );
  }
  const runs: PlannedRun[] = [];
  for (const arm of names) {
    if (!/^[\w.+-]+$/.test(arm) || /^\.+$/.test(arm)) {
      throw new RangeError(
        `Cannot sweep: the name of an arm must be letters, digits and -_.+, because a folder has it, got ${JSON.stringify(arm)}`,
      );
    }
    checkOptions("sweep", { [arm]: arms[arm] }, { [arm]: required(armRule) });
    for (const seed of seeds) {
      const id = `${arm}/seed-${seed}`;
      const added = [
        `trainer.project_name=${basename(folder)}`,
        `trainer.experiment_name=${arm}-seed-${seed}`,
        `lab.group=${arm}`,
      ];
      const own = loadOf(options, arms[arm]!, added);
      const load = { ...own, overrides: [...own.overrides!, `lab.seed=${seed}`] };
      const { config } = await loadConfig(load).catch((error: Error) => {
        throw new RangeError(`Cannot sweep ${arm}: ${error.message}`, { cause: error });
      });
      const print = await printOf(config);
      runs.push({ arm, seed, id, folder: join(folder, arm, `seed-${seed}`), load, config, print });
    }
  }
  return runs;
}

/** What a run under way is told, and tells. */
export interface RunHooks {
  tell: (line: RunLine) => void;
  /** The job that an earlier attempt was sent as. */
  job: string | undefined;
  /** Keeps the id of the job that the run is sent as. */
  keepJob: (id: string) => Promise<void>;
  /** Once aborted, the run is to end behind its step. */
  signal: AbortSignal;
}

/** Where a sweep's runs are done: in processes here, or on a cluster. */
export interface RunDriver {
  /** Runs at the same time. */
  atOnce: number;
  /** Does a run to its end, from its last checkpoint where there is one; rejects with why it failed. */
  run: (run: PlannedRun, hooks: RunHooks) => Promise<void>;
}
