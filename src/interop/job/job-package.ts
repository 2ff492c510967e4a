import { inputPaths } from "../../run/config/place-paths.js";
import type { Config } from "../../run/config/schema.js";
import { mostBytes } from "../ray/ray-connection.js";
import { type PackedFile, zipOf } from "../ray/zip.js";
import { labOnNode, type LabSource, shellWord } from "../upload/lab-source.js";
import { LocalFiles } from "../upload/local-files.js";
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { stringify } from "yaml";

/** What runs on a node: `sh run.sh LAB OUT ATTEMPT [key=value…]`, where LAB says how this package is there. */
const runScript = `#!/bin/sh
set -eu
lab=$1 out=$2 attempt=$3
shift 3
here=$(pwd)
${labOnNode}case $out in
  log:*) out=\${here%%/runtime_resources/*}/logs/\${out#log:} ;;
esac
mkdir -p "$out"
# A node that was lost held the run folder; Ray has said that its job is over.
if [ "$attempt" -gt 1 ] && [ -f "$out/run.lock" ] && ! grep -qF "\"$(uname -n)\"" "$out/run.lock"; then
  rm -f "$out/run.lock"
fi
run_lab train --config "$here/run.yaml" --out "$out" --emit - "$@"
`;

/** Settings as the command line takes them. */
export const pairs = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).map(([key, value]) => `${key}=${value}`);

/** The command of a job. The shell gives way to the script, so that nothing stands between a stop and the run. */
export function entrypoint(job: {
  engine?: "verl" | undefined;
  lab: string;
  out: string;
  attempt: number;
  settings: Readonly<Record<string, string>>;
}): string {
  if (job.engine === "verl") return `exec sh start.sh ${shellWord(job.out)}`;
  const words = [job.lab, job.out, String(job.attempt), ...pairs(job.settings)];
  return ["exec sh run.sh", ...words.map(shellWord)].join(" ");
}

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/** Shorter values are words that any file may hold. */
const shortest = 8;

/**
 * Refuses to send what holds the value of a variable that is named as secrets are: all that is sent can
 * be read by everyone who reaches the cluster.
 */
export function refuseSecrets(
  files: readonly PackedFile[],
  texts: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv = process.env,
): void {
  const secrets = Object.entries(env).filter(
    ([name, value]) => secretName.test(name) && value !== undefined && value.length >= shortest,
  );
  for (const [name, value] of secrets) {
    const file = files.find(({ data }) => Buffer.from(data).includes(value!));
    const text = Object.entries(texts).find(([, said]) => said.includes(value!));
    const where = file?.name ?? text?.[0];
    if (where === undefined) continue;
    throw new RangeError(
      `Cannot send the job: no secret may be in it, got the value of ${name} in ${where}; name the variable instead, and set it on the cluster's nodes`,
    );
  }
}

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
