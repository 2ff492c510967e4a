import type { Check } from "../../src/doctor/check.js";
import { showChecks } from "../../src/doctor/show-checks.js";
import type { ConfigPreset } from "../../src/run/config/presets.js";
import { say } from "../terminal/say.js";

export interface DoctorOptions {
  config?: string[];
  preset: string[];
  endpoint: string[];
  cluster?: string;
  tokenEnv?: string;
  engine?: string;
  storage?: string;
  json?: boolean;
}

const isOverride = (word: string) => word.includes("=") || word.startsWith("~");

/** Looks, prints what was found and gives the exit status. */
export async function runDoctor(words: readonly string[], options: DoctorOptions): Promise<number> {
  const { config = [] } = options;
  const files = [...config, ...words.filter((word) => !isOverride(word))];
  const overrides = words.filter(isOverride);
  const configured = words.length > 0 || config.length > 0 || options.preset.length > 0;
  const endpoints = options.endpoint.map((url) => ({ url, use: "--endpoint", openai: true }));
  const look = async (): Promise<Check[]> => {
    if (!configured) {
      // Without the rest of the toolkit, which takes a while to load.
      const { checkMachine } = await import("../../src/doctor/check-machine.js");
      return checkMachine({ endpoints });
    }
    const { checkConfig } = await import("../../src/doctor/check-config.js");
    // As `arpo-lab train` has it.
    const preset = (
      options.preset.length > 0 ? options.preset : ["arpo", "tiny"]
    ) as ConfigPreset[];
    return checkConfig({ files, overrides, endpoints, preset });
  };
  const checks = await look();
  if (options.cluster !== undefined) {
    const { checkCluster } = await import("../../src/doctor/cluster/check-cluster.js");
    const { tokenEnv, engine, storage } = options;
    if (engine !== undefined && engine !== "lab" && engine !== "verl") {
      throw new RangeError(`Cannot check a cluster: --engine must be lab or verl, got ${engine}`);
    }
    const preset = (
      options.preset.length > 0 ? options.preset : ["arpo", "tiny"]
    ) as ConfigPreset[];
    checks.push(
      ...(await checkCluster(options.cluster, {
        ...(tokenEnv ? { tokenEnv } : {}),
        ...(engine ? { engine } : {}),
        ...(storage ? { storage } : {}),
        ...(configured ? { experiment: { files, overrides, preset } } : {}),
      })),
    );
  }
  if (options.json) say(JSON.stringify(checks, undefined, 2));
  else say(showChecks(checks, process.stdout.columns));
  return checks.some(({ status }) => status === "error") ? 1 : 0;
}
