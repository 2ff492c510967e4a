import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  jupyterFolders,
  kernelFolder,
  kernelSpecs,
  type Place,
} from "../kernelspec/kernel-specs.js";
import { outputFolder } from "../../../src/model/files/model-folder.js";
import { say } from "../terminal/say.js";

/** `arpo-lab kernel install` */
export async function install(place: Place): Promise<void> {
  for (const spec of kernelSpecs()) {
    const folder = join(kernelFolder(place), spec.name);
    await outputFolder(folder, "install the kernels");
    writeFileSync(join(folder, "kernel.json"), `${JSON.stringify(spec.json, null, 2)}\n`);
    writeFileSync(join(folder, "logo-svg.svg"), spec.logo);
    say(`Installed ${spec.name} in ${folder}`);
  }
}

/** `arpo-lab kernel remove`; only what `install` wrote. */
export function remove(place: Place): void {
  let removed = 0;
  for (const { name } of kernelSpecs()) {
    const folder = join(kernelFolder(place), name);
    if (!existsSync(join(folder, "kernel.json"))) continue;
    rmSync(folder, { recursive: true });
    say(`Removed ${folder}`);
    removed++;
  }
  if (removed === 0) {
    throw new Error(`Cannot remove the kernels: none is installed in ${kernelFolder(place)}`);
  }
}

/** `arpo-lab kernel list` */
export function list(): void {
  let found = 0;
  for (const folder of jupyterFolders()) {
    for (const { name, json } of kernelSpecs()) {
      const file = join(folder, "kernels", name, "kernel.json");
      if (!existsSync(file)) continue;
      found++;
      const { argv } = JSON.parse(readFileSync(file, "utf8")) as { argv?: unknown[] };
      const note = argv?.[1] === json.argv[1] ? "" : `  (another copy: ${String(argv?.[1])})`;
      say(`${name.padEnd(12)} ${join(folder, "kernels", name)}${note}`);
    }
  }
  if (found === 0) say("No arpo-lab kernel is installed; `arpo-lab kernel install` does it.");
}
