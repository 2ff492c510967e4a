import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** A new folder in the temporary folder, which is removed when the test file's process ends. */
export function temporaryFolder(name: string): string {
  if (made.length === 0) {
    process.once("exit", () => {
      for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
    });
  }
  const path = realpathSync(mkdtempSync(join(tmpdir(), `${name}-`)));
  made.push(path);
  return path;
}
