import { dirname, relative } from "node:path";
import { readSettings } from "../../../kernel/compile/check/settings.js";
import { withOwnEntry } from "../../../kernel/compile/check/own-exports.js";
import { World } from "../../../kernel/compile/check/world.js";

/** Errors of more lines than this are not read at once. */
const mostErrors = 20;

/** What is wrong with a program's types, and with those of the files beside it that it imports: a line each. */
export function typeErrorsOf(path: string): string[] {
  const { check, compilerOptions } = readSettings(dirname(path));
  if (!check) return [];
  const world = new World(dirname(path), compilerOptions, true);
  world.include([path], path);
  const { program, ts } = world;
  const found = world
    .localGraph(path)
    .flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ])
    .filter(({ category }) => category === ts.DiagnosticCategory.Error)
    .map(({ file, start = 0, code, messageText }) => {
      const { line, character } = file!.getLineAndCharacterOfPosition(start);
      const message = ts.flattenDiagnosticMessageText(messageText, "\n  ");
      const at = `${relative("", file!.fileName)}:${line + 1}:${character + 1}`;
      return `${at}: ${withOwnEntry(code, message)} (TS${code})`;
    });
  const left = found.length - mostErrors;
  return left > 0 ? [...found.slice(0, mostErrors), `… ${left} more`] : found;
}
