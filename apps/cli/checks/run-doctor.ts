import type { Check } from "../../../src/doctor/check.js";
import { showChecks } from "../../../src/doctor/show-checks.js";
import { type ConfigOptions, experimentIn } from "../learn/experiment.js";
import { say } from "../terminal/say.js";

export interface DoctorOptions extends ConfigOptions {
  endpoint: string[];
  cluster?: string;
  tokenEnv?: string;
  engine?: "lab" | "verl";
  storage?: string;
  json?: boolean;
}

/** Looks, prints what was found and gives the exit status. */
export async function runDoctor(words: readonly string[], options: DoctorOptions): Promise<number> {
  const configured = words.length + options.config.length + options.preset.length > 0;
  const experiment = experimentIn(words, options);
  const endpoints = options.endpoint.map((url) => ({ url, use: "--endpoint", openai: true }));
  const look = async (): Promise<Check[]> => {
    if (!configured) {
      // Without the rest of the toolkit, which takes a while to load.
      const { checkMachine } = await import("../../../src/doctor/check-machine.js");
      return checkMachine({ endpoints });
    }
    const { checkConfig } = await import("../../../src/doctor/check-config.js");
    return checkConfig({ ...experiment, endpoints });
  };
  const checks = await look();
  if (options.cluster !== undefined) {
    const { checkCluster } = await import("../../../src/interop/job/check-cluster.js");
    const { tokenEnv, engine, storage } = options;
    const wishes = { tokenEnv, engine, storage, ...(configured ? { experiment } : {}) };
    checks.push(...(await checkCluster(options.cluster, wishes)));
  }
  if (options.json) say(JSON.stringify(checks, undefined, 2));
  else say(showChecks(checks, process.stdout.columns));
  return checks.some(({ status }) => status === "error") ? 1 : 0;
}
