import { mkdirSync, writeFileSync } from "../../../common/platform/browser/files.js";
import { packagePath } from "../../../common/platform/browser/modules.js";
import { dirname } from "../../../common/platform/browser/path.js";

/** Puts files of the package, fetched from below an address, where the lab looks for them. */
export async function fetchFiles(base: string | URL, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const answer = await fetch(new URL(name, base));
      if (!answer.ok) {
        throw new Error(
          `Cannot open the lab: ${answer.url} must be there, got status ${answer.status}`,
        );
      }
      const path = packagePath(name);
      const bytes = new Uint8Array(await answer.arrayBuffer());
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    }),
  );
}
