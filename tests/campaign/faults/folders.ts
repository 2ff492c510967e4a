// Damaged files of a run folder: what is found, what is told, and that the run continues.
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fingerprint, runToEnd } from "../../cli/training-run.js";
import { loadTrees } from "../../../src/rollout/files/tree-files.js";
import type { Random } from "../../../src/base/random/random.js";
import { type Area, Broken } from "../attempt.js";
import { calmRun, type Kind, sftKind, trainKind } from "./training.js";

const damages: Record<string, (path: string, random: Random) => void> = {
  "a flipped bit": (path, random) => {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return;
    bytes[random.integer(bytes.length)]! ^= 1 << random.integer(8);
    writeFileSync(path, bytes);
  },
  "a cut": (path, random) => truncateSync(path, random.integer(Math.max(1, statSync(path).size))),
  "no bytes": (path) => truncateSync(path, 0),
  "a page of zeros": (path, random) => {
    const bytes = readFileSync(path);
    bytes.fill(0, random.integer(Math.max(1, bytes.length)));
    writeFileSync(path, bytes);
  },
  "no such file": (path) => rmSync(path),
};

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();

/** A run that ended before its last step: what its last checkpoint is called. */
function endedEarly(calm: string, folder: string): RegExp {
  cpSync(calm, folder, { recursive: true });
  const isTrain = existsSync(join(folder, "metrics.jsonl"));
  const end = join(folder, isTrain ? "global_step_6" : "checkpoint-6");
  rmSync(end, { recursive: true });
  return isTrain ? /^global_step_5\// : /^checkpoint-5\//;
}

async function tried(
  kind: Kind,
  place: Parameters<typeof calmRun>[0],
  random: Random,
  damage: string,
) {
  const calm = await calmRun(place, kind);
  const folder = place.path("run");
  const last = endedEarly(calm, folder);
  // The last checkpoint, and what stands beside the checkpoints; what comes after it is made again.
  const isRead = (name: string) =>
    last.test(name) ||
    (!/^(global_step_|checkpoint-)\d|\.lock$/.test(name) && /^[^/]*$|\/[0-4]\.jsonl$/.test(name));
  const file = random.choose(below(folder).filter(isRead));
  const path = join(folder, file);
  const before = readFileSync(path);
  damages[damage]!(path, random);
  const changed =
    statSync(path, { throwIfNoEntry: false }) === undefined || !readFileSync(path).equals(before);
  const said = `${damage} in ${file}`;
  const wasTree = /^(rollouts|validation)\/.*\.jsonl$/.test(file);
  if (wasTree && changed && damage !== "no such file") {
    await assert.rejects(loadTrees(path), /as it was saved/, `silent: ${said}`);
  }
  let args = kind.args(place, folder);
  let { status, output } = await runToEnd(args);
  if (last.test(file) && changed) {
    if (status === 0) throw new Broken("silent", `${said} was not found: ${output}`);
    assert.match(output, /must be as it was saved|must be a checkpoint/, said);
    const way = /(?:(?:go on|resume) from it with|(?:begin anew|start again) with) ([^\n]+)$/m.exec(
      output,
    )?.[1];
    if (way === undefined) {
      // No state at all is no checkpoint of this program.
      assert.match(output, /must be a checkpoint/, said);
      return `${said}: refused: ${output.slice(-200)}`;
    }
    args = [...args, ...way.trim().split(" ")];
    ({ status, output } = await runToEnd(args));
  }
  if (status !== 0) throw new Broken("lost", `${said}: it does not go on: ${output}`);
  const wasFound = output.includes(file);
  if (wasTree) writeFileSync(path, before);
  const straight = fingerprint(calm);
  const got = fingerprint(folder);
  // The arguments that name the way are in the configuration.
  const compared = (of: Record<string, string>) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => name !== "config.yaml"));
  assert.deepEqual(compared(got), compared(straight), said);
  if (changed && wasTree && !wasFound) {
    throw new Broken("silent", `${said} was not told: ${output}`);
  }
  return `${said}: went on`;
}

export const folders: Area = {
  name: "run folders",
  share: 3,
  seconds: 180,
  make: (random) => {
    const kind = random.uniform() < 0.7 ? trainKind : sftKind;
    const damage = random.choose(Object.keys(damages));
    return {
      name: `${kind.name}: ${damage} in a file of a run that was stopped`,
      promise: "it is found before it is used, and the run ends with a calm run's bytes",
      run: async (place) => await tried(kind, place, random, damage),
    };
  },
};
