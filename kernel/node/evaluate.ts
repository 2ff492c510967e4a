import { setFlagsFromString } from "node:v8";
import vm from "node:vm";
import "./quiet-warning.js";

/**
 * A script that is run once, under this name in stack traces. V8 would keep its compiled form for the next
 * time the same text comes along, which with cells is never: 2 kB each, for as long as the kernel lives.
 */
function compile(js: string, filename?: string): vm.Script {
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  setFlagsFromString("--no-compilation-cache");
  try {
    return new vm.Script(js, { filename, importModuleDynamically });
  } finally {
    setFlagsFromString("--compilation-cache");
  }
}

export const evaluate = (js: string, filename: string): unknown =>
  compile(js, filename).runInThisContext();

/** What the engine says of a text that is no script, and where: line and column from 0, where it tells. */
interface ScriptProblem {
  message: string;
  place?: { line: number; column: number };
}

/** Why a text is no script; undefined where it is one. Nothing of it runs. */
export function scriptProblem(js: string): ScriptProblem | undefined {
  try {
    compile(js);
    return undefined;
  } catch (error) {
    const { message, stack = "" } = error as Error;
    const place = /^[^\n]*:(\d+)\n[^\n]*\n([ \t]*)\^/.exec(stack);
    if (place === null) return { message };
    return { message, place: { line: Number(place[1]) - 1, column: place[2]!.length } };
  }
}
