// A checkpoint's state file names every file of the checkpoint with its length and its SHA-256, and itself: a bit that
// a disk flipped, a file that was cut, is found before anything is trained with it.
import { open, piecesOf, readdir, readFile, writeFile } from "#platform/files";
import { join } from "#platform/path";
import { sha256, sha256Of } from "#platform/sha256";

/** What a state file says of another file. */
interface FileSum {
  bytes: number;
  sha256: string;
}

/** What a state file has besides the state. */
interface Seal {
  files?: Record<string, FileSum>;
  /** Of the state itself, without this line. */
  sha256?: string;
}

async function sumOf(path: string): Promise<FileSum> {
  const file = await open(path, "r");
  try {
    const hash = sha256Of();
    let bytes = 0;
    for await (const piece of piecesOf(file)) {
      hash.update(piece);
      bytes += piece.length;
    }
    return { bytes, sha256: hash.hex() };
  } finally {
    await file.close();
  }
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
  await writeFile(join(folder, name), `${text}\n`);
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
  for (const [file, { bytes, sha256 }] of Object.entries(all.files ?? {})) {
    const found = await sumOf(join(folder, file)).catch((error: NodeJS.ErrnoException) => {
      throw damaged(join(folder, file), error.code ?? error.message, error);
    });
    if (found.bytes !== bytes) {
      throw damaged(join(folder, file), `${found.bytes} bytes where ${bytes} were`);
    }
    if (found.sha256 !== sha256) throw damaged(join(folder, file), "other contents (SHA-256)");
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
