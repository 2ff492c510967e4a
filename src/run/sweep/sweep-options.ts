import {
  type OptionRules,
  either,
  integer,
  listOf,
  optionsOf,
  required,
  texts,
} from "../../../common/options/check-options.js";
import type { ConfigPreset } from "../config/presets.js";
import type { SweepRuns } from "./sweep-runs.js";

/** A setting of a sweep, over what all its settings share. */
export interface SweepArm {
  /** Named starting points, as in `loadConfig`. Default: none. */
  preset?: ConfigPreset | readonly ConfigPreset[];
  /** YAML files. Default: none. */
  files?: readonly string[];
  /** `key=value`, as on the command line. Default: none. */
  overrides?: readonly string[];
}

/** A Ray cluster that a sweep's runs are sent to. */
export interface SweepCluster {
  /** The cluster's head, `http://HEAD:8265`. */
  address: string;
  /** How this package gets to the nodes: as for `arpo-lab submit`. */
  package?: string;
  storage?: string;
  cpus?: number;
  gpus?: number;
}

export interface SweepOptions extends SweepArm {
  /** The settings that are compared, by their names; a list is overrides alone. */
  arms: Readonly<Record<string, SweepArm | readonly string[]>>;
  /** Each setting is run once for each (`lab.seed`). */
  seeds: readonly number[];
  /** Where everything goes: the run folders are `FOLDER/ARM/seed-SEED`. */
  folder: string;
  /** Runs at the same time; the threads are divided among them. Default: one for each thread. */
  processes?: number;
  /**
   * Send the runs to a Ray cluster, by its address, instead of running them here. Default: here.
   */
  ray?: string | SweepCluster;
  /** Show the table while it grows, where a notebook looks. Default: true. */
  live?: boolean;
  /** Called whenever a run has come further. Default: none. */
  onChange?: (runs: SweepRuns) => void;
  /**
   * Once it is aborted, the runs under way end behind their step; the same call goes on from there.
   * Default: none.
   */
  signal?: AbortSignal;
}

const presets = either("text", texts);
const arm: OptionRules<SweepArm> = { preset: presets, files: texts, overrides: texts };

export const sweepRules: OptionRules<SweepOptions> = {
  ...arm,
  arms: "object",
  seeds: required(listOf(integer(0), "integers of at least 0")),
  folder: "path",
  processes: integer(1),
  ray: either(
    "text",
    optionsOf<SweepCluster>({
      address: "text",
      package: "text?",
      storage: "path?",
      cpus: "number?",
      gpus: "number?",
    }),
  ),
  live: "boolean?",
  onChange: "function?",
  signal: "signal?",
};

/** What an arm may hold. */
export const armRule = either(texts, optionsOf(arm));
