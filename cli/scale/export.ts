import { exportVerl } from "../../src/scale/index.js";
import type { Preset } from "../../src/run/index.js";
import { aside, say } from "../say.js";

/** `arpo-lab export`. */
export async function exportRun(
  out: string,
  overrides: string[],
  options: { config: string[]; preset: string[]; tool: Record<string, string>; reward?: string },
): Promise<void> {
  const preset = (options.preset.length > 0 ? options.preset : ["arpo", "tiny"]) as Preset[];
  const { tool: tools, reward } = options;
  const job = await exportVerl({ files: options.config, preset, overrides }, out, {
    tools,
    ...(reward === undefined ? {} : { reward }),
  });
  for (const note of job.notes) aside(`note: ${note}`);
  say(
    `${job.folder}: ${job.overrides.length} overrides; sh ${job.folder}/run.sh runs it with verl 0.9.1`,
  );
}
