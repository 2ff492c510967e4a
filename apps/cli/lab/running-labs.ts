import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { dataFolder } from "../../../kernel/wire/process/folders.js";

/** A lab that runs, as its own process says. */
export interface RunningLab {
  url: string;
  folder: string;
  /** Opens `/agent/` and nothing else. */
  token: string;
  pid: number;
  started: string;
}

const placeOf = (data: string): string => join(data, "lab", "running");

/** Says that a lab runs, to programs of the same user. Gives what takes that back. */
export function sayRunning(lab: RunningLab, data = dataFolder()): () => void {
  if (data === undefined) return () => undefined;
  const folder = placeOf(data);
  const file = join(folder, `${lab.pid}-${new URL(lab.url).port}.json`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  rmSync(file, { force: true }); // of a process of the same number: its rights would stay
  writeFileSync(file, JSON.stringify(lab), { mode: 0o600, flag: "wx" });
  chmodSync(folder, 0o700);
  return () => rmSync(file, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isLab(value: unknown): value is RunningLab {
  const { url, folder, token, pid } = (value ?? {}) as Record<string, unknown>;
  return (
    [url, folder, token].every((text) => typeof text === "string") &&
    Number.isInteger(pid) &&
    /^http:\/\/[^/]+\/$/.test(url as string)
  );
}

/** The labs of this user that run now. What ended without a word is left out. */
export function runningLabs(data = dataFolder()): RunningLab[] {
  if (data === undefined) return [];
  let names: string[];
  try {
    names = readdirSync(placeOf(data));
  } catch {
    return []; // no lab has run yet
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => {
      try {
        const lab: unknown = JSON.parse(readFileSync(join(placeOf(data), name), "utf8"));
        return isLab(lab) && isAlive(lab.pid) ? [lab] : [];
      } catch {
        return []; // being written, or taken back
      }
    });
}

/** Whether a folder is another one or lies in it. */
export const liesIn = (folder: string, outer: string): boolean =>
  folder === outer || folder.startsWith(outer.endsWith(sep) ? outer : outer + sep);
