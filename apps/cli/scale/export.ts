import { readFile, stat, writeFile } from "node:fs/promises";
import { stringify } from "yaml";
import { exportVerl } from "../../../src/interop/verl/export-verl.js";
import { importScript } from "../../../src/interop/verl/import-script.js";
import { readVerlRun } from "../../../src/interop/verl/read-verl-run.js";
import { type ConfigOptions, experimentOf } from "../learn/experiment.js";
import { aside, say } from "../terminal/say.js";

/** `arpo-lab export`. */
export async function exportRun(
  out: string,
  overrides: string[],
  options: ConfigOptions & {
    tool: Record<string, string>;
    reward?: string;
    package?: string;
    verl: string[];
  },
): Promise<void> {
  const { tool: tools, reward, package: lab, verl: settings } = options;
  const job = await exportVerl(experimentOf(options, overrides), out, {
    ...{ tools, settings },
    reward,
    package: lab,
  });
  for (const note of job.notes) aside(`note: ${note}`);
  say(
    `${job.folder}: ${job.overrides.length} overrides; sh ${job.folder}/run.sh runs it with verl 0.9.1`,
  );
}

/** `arpo-lab import`. */
export async function importRun(script: string, out: string): Promise<void> {
  const found = await stat(script).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `Cannot import: ${script} must be a shell script or a finished verl job's folder, got ${error.code}`,
    );
  });
  if (found.isDirectory()) {
    const { folder, steps, trees, entropyMeaning } = await readVerlRun(script, out);
    say(`${folder}: ${steps} steps, ${trees} trees. ${entropyMeaning}`);
    return;
  }
  const { config, notes } = await importScript(await readFile(script, "utf8"));
  for (const note of notes) aside(`note: ${note}`);
  await writeFile(out, stringify(config), { flag: "wx" });
  say(`${out}: arpo-lab doctor ${out} says what it will do here`);
}
