import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { stringify } from "yaml";
import type { Config } from "../../run/config/schema.js";
import { inputPaths } from "../../run/config/place-paths.js";
import { mostBytes } from "../ray/ray-connection.js";
import { zipOf, type PackedFile } from "../ray/zip.js";
import type { LabSource } from "../upload/lab-source.js";
import { LocalFiles } from "../upload/local-files.js";
import { runScript } from "./run-script.js";
import { refuseSecrets } from "./secrets.js";

/** A package, and what a person should know of it. */
export interface JobPackage {
  zip: Buffer;
  /** What stands for the package in the run script. */
  lab: string;
  notes: string[];
}

/** What goes over: the resolved configuration, the files it names, the script. Nothing of it is a secret. */
export function jobPackage(config: Config, source: LabSource): JobPackage {
  const local = new LocalFiles();
  const notes: string[] = [];
  const placed = inputPaths(config, (key, path) => {
    const [file = "", ...name] = path.split("#");
    const here = resolve(file);
    // A module of a folder is told from one of a package by its dot.
    if (existsSync(here)) return [`./${local.place(here)}`, ...name].join("#");
    if (isAbsolute(file)) notes.push(`${key}: ${file} is not here; it must be on the nodes`);
    return path;
  });
  const sizes = local.files.map(({ name, bytes }) => ({ name, bytes }));
  // Before anything is read or packed: what does not even nearly fit is meant to be on the nodes.
  if (sum(sizes) > 8 * mostBytes) throw tooLarge(sizes, sum(sizes));
  const files: PackedFile[] = [
    ...local.read(),
    { name: "run.yaml", data: Buffer.from(stringify(placed)) },
    { name: "run.sh", data: Buffer.from(runScript), executable: true },
  ];
  if (source.kind === "tarball") files.push({ name: "lab.tgz", data: readFileSync(source.path) });
  refuseSecrets(files, {});
  const zip = zipOf(files);
  refuseTooLarge(files, zip);
  return { zip, lab: source.kind === "path" ? source.path : source.kind, notes };
}

/** Refuses a package that Ray would not take, before any of it is sent. */
export function refuseTooLarge(files: readonly PackedFile[], zip: Uint8Array): void {
  if (zip.length <= mostBytes) return;
  const packed = files.map(({ name, data }) => ({ name, bytes: data.length }));
  throw tooLarge(packed, zip.length);
}

interface Size {
  name: string;
  bytes: number;
}

const sum = (sizes: readonly Size[]): number => sizes.reduce((all, { bytes }) => all + bytes, 0);

function tooLarge(sizes: readonly Size[], got: number): RangeError {
  const [largest] = [...sizes].sort((a, b) => b.bytes - a.bytes);
  return new RangeError(
    `Cannot make the job: its package must have at most ${mostBytes} bytes, got ${got}, of which ${largest!.name} has ${largest!.bytes}; put it where the nodes see it and name its path there`,
  );
}
