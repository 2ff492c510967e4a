import { writeSync } from "node:fs";

let saidAt = performance.now();
let live = false;

/** Milliseconds since something was last said or written here; none while a line says what is being done. */
export const silence = (): number => (live ? 0 : performance.now() - saidAt);

/** Whether a line that changes in place is shown at the terminal. */
export function showsLive(shows: boolean): void {
  live = shows;
}

/** Says a line where notes go: standard error, so that piped output stays clean. */
export function note(line: string): void {
  writeNote(`${line}\n`);
}

/** Writes where a program's output goes: standard output. */
export function write(text: string): void {
  saidAt = performance.now();
  process.stdout.write(text);
}

/** Writes where notes go, as it is. */
export function writeNote(text: string): void {
  saidAt = performance.now();
  process.stderr.write(text);
}

/** How many characters a line has where notes go; undefined where no person reads them. */
export function noteWidth(): number | undefined {
  return process.stderr.isTTY ? process.stderr.columns : undefined;
}

/** Whether what a program prints is read by a person as it comes. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/** Says a line to whoever started this, past all that has taken over standard error. */
export function noteOutside(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EAGAIN" && code !== "EPIPE" && code !== "EBADF") throw error; // nobody listens
  }
}
