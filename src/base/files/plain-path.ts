import { realpathSync, statSync, type Stats } from "node:fs";

/** Folders whose files are the system's own: reading them can wait for ever, or go round in circles. */
const systemFolder = /^\/(?:proc|sys)(?:\/|$)/;

function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return "a pipe";
  if (stat.isSocket()) return "a socket";
  return "a device";
}

/**
 * Refuses a path that leads to something else than a regular file or a folder: opening a pipe waits for
 * whoever writes to it. What is not there is left to whoever opens it.
 */
export function requirePlainPath(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  const refuse = (found: string): never => {
    throw new RangeError(
      `Cannot open ${path}: it must be a regular file or a folder, got ${found}`,
    );
  };
  if (!stat.isFile() && !stat.isDirectory()) refuse(kindOf(stat));
  const real = realpathSync(path);
  if (systemFolder.test(real)) refuse(`the system's own, ${real}`);
}
