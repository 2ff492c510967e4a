/** Says a line where notes go: standard error, so that piped output stays clean. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes where a program's output goes: standard output. */
export function write(text: string): void {
  process.stdout.write(text);
}
