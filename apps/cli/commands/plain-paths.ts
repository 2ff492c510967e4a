import { realpathSync, statSync, type Stats } from "node:fs";
import type { Command } from "commander";

/** Folders whose files are the system's own: reading them can wait for ever, or go round in circles. */
const systemFolder = /^\/(?:proc|sys)(?:\/|$)/;

function kindOf(stat: Stats): string {
  if (stat.isFIFO()) return "a pipe";
  if (stat.isSocket()) return "a socket";
  return "a device";
}

/**
 * Refuses a path that leads to something else than a regular file or a folder: opening a pipe waits for
 * whoever writes to it. What is not there, or cannot be looked at, is left to whoever opens it.
 */
function requirePlainPath(path: string): void {
  let stat: Stats | undefined;
  try {
    stat = statSync(path);
  } catch {
    return;
  }
  const refuse = (found: string): never => {
    throw new RangeError(
      `Cannot open ${path}: it must be a regular file or a folder, got ${found}`,
    );
  };
  if (!stat.isFile() && !stat.isDirectory()) refuse(kindOf(stat));
  const real = realpathSync(path);
  if (systemFolder.test(real)) refuse(`the system's own, ${real}`);
}

const named = /file|folder|dir|path|model|config|^(?:runs?|from|to|out)\b/i;

/** What a command was given as paths, by how its arguments and options are called. */
function pathsOf(command: Command): string[] {
  const given = command.registeredArguments.flatMap((argument, i) =>
    named.test(argument.name()) ? [command.processedArgs[i] as unknown] : [],
  );
  const values: Record<string, unknown> = command.opts();
  const options = command.options.flatMap((option) =>
    named.test(/<(.*)>/.exec(option.flags)?.[1] ?? "") ? [values[option.attributeName()]] : [],
  );
  return [...given, ...options].flat().filter((value) => typeof value === "string");
}

/** Refuses, before any command begins, paths that are neither a regular file nor a folder. */
export function checkPaths(program: Command): Command {
  return program.hook("preAction", (_, command) => {
    try {
      for (const path of pathsOf(command)) requirePlainPath(path);
    } catch (error) {
      command.error(error instanceof Error ? error.message : String(error), { exitCode: 2 });
    }
  });
}
