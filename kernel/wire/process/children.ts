import { readFileSync, readdirSync } from "node:fs";

/** Processes started by `pid` and by those, as far as the system tells: Linux does. */
function descendants(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  try {
    const children = readdirSync(tasks).flatMap((thread) =>
      readFileSync(`${tasks}/${thread}/children`, "utf8").split(" ").map(Number),
    );
    return children.filter((child) => child > 0).flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return []; // it just ended, or this is no Linux
  }
}

/** A blocking child, as of `execSync`, gets the signal that a terminal would send, and so do its own. */
export function interruptChildren(): void {
  for (const child of descendants(process.pid)) {
    try {
      process.kill(child, "SIGINT");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it just ended
    }
  }
}
