// A checkpoint's state file names every file of the checkpoint with its length and its SHA-256, and itself: a bit that
// a disk flipped, a file that was cut, is found before anything is trained with it.
import { readdir, readFile } from "#platform/files";
import { basename, dirname, join, resolve } from "#platform/path";
import { sha256 } from "#platform/sha256";
import { differenceOf, type FileSum, sumOf } from "../../base/files/file-sum.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import { writeDurably } from "../../../common/files/durable.js";
import { isRecord } from "../../../common/options/is-record.js";

/** What a state file has besides the state. */
interface Seal {
  files?: Record<string, FileSum>;
  /** Of the state itself, without this line. */
  sha256?: string;
}

/** The files below a folder, by their names in it. */
async function filesBelow(folder: string, above = ""): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, above), { withFileTypes: true })) {
    const name = above + entry.name;
    if (entry.isDirectory()) found.push(...(await filesBelow(folder, `${name}/`)));
    else found.push(name);
  }
  return found.sort();
}

const ownSum = (state: object): string => sha256(JSON.stringify(state));

/** Writes a checkpoint's state, with what its other files are; the last thing that is written of it. */
export async function writeSealed(folder: string, name: string, state: object): Promise<void> {
  const files: Record<string, FileSum> = {};
  for (const file of await filesBelow(folder)) {
    if (file !== name) files[file] = await sumOf(join(folder, file));
  }
  const all = { ...state, files };
  const text = JSON.stringify({ ...all, sha256: ownSum(all) }, null, 1);
  await writeDurably(join(folder, name), `${text}\n`);
}

/** A checkpoint that is not as it was saved. */
export class DamagedCheckpoint extends Error {
  override name = "DamagedCheckpoint";
}

const damaged = (path: string, got: string, cause?: unknown): DamagedCheckpoint =>
  new DamagedCheckpoint(`${path} must be as it was saved, got ${got}`, { cause });

/** Reads a checkpoint's state; undefined where there is none. Whatever is not as it was saved is refused. */
export async function readSealed<State extends object>(
  folder: string,
  name: string,
): Promise<State | undefined> {
  const path = join(folder, name);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw damaged(path, message, error);
  }
  let value: (State & Seal) | null;
  try {
    value = JSON.parse(text) as (State & Seal) | null;
  } catch (error) {
    const shown = text.trim() === "" ? "an empty file" : "a file that was cut or changed";
    throw damaged(path, `${shown} (${text.length} characters)`, error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw damaged(path, "no state");
  }
  const { sha256: own, ...all } = value;
  // Checkpoints of versions before 0.2 have no sums.
  if (own === undefined && all.files === undefined) return value;
  if (own !== ownSum(all)) throw damaged(path, "other contents");
  for (const [file, sum] of Object.entries(all.files ?? {})) {
    const got = await differenceOf(join(folder, file), sum);
    if (got !== undefined) throw damaged(join(folder, file), got);
  }
  return value;
}

/** The last of some checkpoints, given in order, that is as it was saved, other than one. */
export async function lastWhole(
  paths: readonly string[],
  name: string,
  other: string,
): Promise<string | undefined> {
  for (const path of [...paths].reverse()) {
    if (path === other) continue;
    const state = await readSealed(path, name).catch((error: unknown) => {
      if (error instanceof DamagedCheckpoint) return undefined;
      throw error;
    });
    if (state !== undefined) return path;
  }
  return undefined;
}

/** The names that kinds of runs give a checkpoint's state. */
const stateFiles = ["state.json", "trainer_state.json"];

/**
 * Refuses weights in a folder of a checkpoint (its `actor`, its adapters) that are not as they were saved. Other
 * files may be edited, and folders that are part of no checkpoint have no sums.
 */
export async function checkSealed(folder: string, action: string): Promise<void> {
  let above = resolve(folder);
  let within = "";
  for (let up = 0; up < 3; up++) {
    for (const name of stateFiles) {
      for (const [file, sum] of Object.entries(await sumsIn(join(above, name)))) {
        // What lies deeper is another model's.
        const isOurs = file.startsWith(within) && !file.slice(within.length).includes("/");
        if (!isOurs || !file.endsWith(".safetensors")) continue;
        const got = await differenceOf(join(above, file), sum);
        if (got === undefined) continue;
        const { message } = damaged(join(above, file), got);
        throw new DamagedCheckpoint(`Cannot ${action}: ${message}; take another checkpoint`);
      }
    }
    within = `${basename(above)}/${within}`;
    above = dirname(above);
  }
}

/** The sums in a state file; none where there is no such file, or one of another program. */
async function sumsIn(path: string): Promise<Record<string, FileSum>> {
  try {
    const { files } = JSON.parse((await readIfThere(path)) ?? "{}") as Seal;
    return isRecord(files) ? files : {};
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A path that leads through a file, on the way up from a model that is one file.
    if (error instanceof SyntaxError || code === "ENOTDIR" || code === "EACCES") return {};
    throw error;
  }
}
