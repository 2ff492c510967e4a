import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import type { LoadOptions } from "../../run/config/options.js";
import { zipOf, type PackedFile } from "../ray/zip.js";
import { exportVerl, type VerlExportOptions } from "../verl/export-verl.js";
import { refuseTooLarge, type JobPackage } from "./job-package.js";
import { refuseSecrets } from "./secrets.js";

/**
 * What runs on the node of verl's driver: `sh start.sh OUT`. The folder goes to OUT, which all nodes share,
 * for Ray takes the package's own away; one that is there already goes on from its last checkpoint.
 */
const startScript = `#!/bin/sh
set -eu
out=$1
if [ ! -f "$out/run.sh" ]; then
  mkdir -p "$(dirname "$out")"
  cp -R . "$out.part"
  mv "$out.part" "$out"
fi
cd "$out"
# A cluster that is there says its own processors.
exec sh run.sh ray_kwargs.ray_init.num_cpus=null
`;

/** A job folder for verl as a package. */
export async function verlPackage(
  experiment: LoadOptions,
  options: VerlExportOptions,
): Promise<JobPackage> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-lab-verl-"));
  try {
    const { notes } = await exportVerl(experiment, folder, options);
    const files: PackedFile[] = [{ name: "start.sh", data: Buffer.from(startScript) }];
    for (const entry of await readdir(folder, { recursive: true })) {
      const path = join(folder, entry);
      if (!(await stat(path)).isFile()) continue;
      const name = relative(folder, path).split(sep).join("/");
      files.push({ name, data: await readFile(path), executable: name === "run.sh" });
    }
    refuseSecrets(files, {});
    const zip = zipOf(files);
    refuseTooLarge(files, zip);
    return { zip, lab: "verl", notes };
  } finally {
    await rm(folder, { recursive: true });
  }
}
