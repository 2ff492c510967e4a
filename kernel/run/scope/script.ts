import { setFlagsFromString } from "node:v8";
import vm from "node:vm";

/**
 * A script that is run once. V8 would keep its compiled form for the next time the same text comes
 * along, which with cells is never: 2 kB each, for as long as the kernel lives.
 */
export function compileOnce(js: string, options: vm.ScriptOptions): vm.Script {
  setFlagsFromString("--no-compilation-cache");
  try {
    return new vm.Script(js, options);
  } finally {
    setFlagsFromString("--compilation-cache");
  }
}
