import { setFlagsFromString } from "node:v8";
import vm from "node:vm";
import "./quiet-warning.js";

/**
 * What a script gives that is run once, under this name in stack traces. V8 would keep its compiled form
 * for the next time the same text comes along, which with cells is never: 2 kB each, for as long as the
 * kernel lives.
 */
export function evaluate(js: string, filename: string): unknown {
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  setFlagsFromString("--no-compilation-cache");
  let script: vm.Script;
  try {
    script = new vm.Script(js, { filename, importModuleDynamically });
  } finally {
    setFlagsFromString("--compilation-cache");
  }
  return script.runInThisContext();
}
