/** Tells the recorder what is promised from here on; nothing where nobody records. */
export const acknowledge = (what: unknown): void =>
  (globalThis as { acknowledge?: (what: unknown) => void }).acknowledge?.(what);

/** The folder to write, and what else the program was given. */
export const [folder, ...given] = process.argv.slice(2) as [string, ...string[]];
