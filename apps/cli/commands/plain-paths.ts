import type { Command } from "commander";
import { requirePlainPath } from "../../../src/base/files/plain-path.js";

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
