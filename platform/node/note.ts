/** Says a line where notes go: standard error, so that piped output stays clean. */
export function note(line: string): void {
  process.stderr.write(`${line}\n`);
}
