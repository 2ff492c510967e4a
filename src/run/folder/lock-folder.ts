import { open, readFileSync, rename, rm, rmSync } from "#platform/files";
import { hostname, isRunning, processId } from "#platform/process";
import { join, resolve } from "#platform/path";
import { readIfThere } from "../../base/files/read-if-there.js";

const lockFile = "run.lock";

interface Holder {
  host: string;
  pid: number;
  /** When the process began, where the system tells: process numbers come again. */
  began: string | null;
}

/** The lock files of this process. */
const ours = new Set<string>();

/** A process's start in clock ticks since boot; null where there is no /proc. */
function beginningOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it is in brackets and may hold anything.
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function isAlive({ pid, began }: Holder): boolean {
  if (!isRunning(pid)) return false;
  const now = beginningOf(pid);
  return began === null || now === null || now === began;
}

async function holderOf(path: string): Promise<Holder | undefined> {
  const text = await readIfThere(path);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Holder);
  } catch {
    // Killed between making the file and writing it.
    return undefined;
  }
}

/**
 * Keeps a folder for this process; what is given back lets it go. A second process that would write the
 * same folder is refused; the lock of a process that is gone is taken over.
 */
export async function lockFolder(folder: string): Promise<() => void> {
  const path = join(resolve(folder), lockFile);
  const me: Holder = { host: hostname(), pid: processId, began: beginningOf(processId) };
  for (;;) {
    try {
      const file = await open(path, "wx");
      ours.add(path);
      await file.writeFile(`${JSON.stringify(me)}\n`);
      await file.close();
      return () => {
        if (ours.delete(path)) removeIfPossible(path);
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    await refuseTaken(folder);
    // Moved away first: of two processes that find it dead only one can.
    const dead = `${path}.${processId}.tmp`;
    await rename(path, dead).catch(() => undefined);
    await rm(dead, { force: true });
  }
}

/** A lock that cannot be removed, on a disk that became read-only, is one of a process that is gone. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (!["EROFS", "EACCES", "EPERM", "EIO"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
  }
}

/** Who writes the folder now; undefined where it is free or its writer is gone. */
async function writerOf(folder: string): Promise<string | undefined> {
  const path = join(resolve(folder), lockFile);
  if (ours.has(path)) return "this one is at it already";
  const holder = await holderOf(path);
  return holder && (holder.host !== hostname() || isAlive(holder))
    ? `process ${holder.pid} on ${holder.host} is at it (delete ${lockFile} if it is not)`
    : undefined;
}

/** Whether a process writes the folder now. */
export async function isTaken(folder: string): Promise<boolean> {
  return (await writerOf(folder)) !== undefined;
}

/** Throws where another writer lives; says nothing of a folder that is free or whose writer is gone. */
export async function refuseTaken(folder: string): Promise<void> {
  const who = await writerOf(folder);
  if (who !== undefined) throw taken(folder, who);
}

function taken(folder: string, who: string): Error {
  return new Error(`Cannot write ${folder}: one process may write it, got two; ${who}`);
}
