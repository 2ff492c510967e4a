import { setFlagsFromString } from "node:v8";
import vm from "node:vm";

let gc: (() => void) | undefined;

/**
 * Collects this thread's garbage now. Left to itself V8 lets a heap grow to twice what is in use, and a
 * thread that has nothing to do never gives it back.
 */
export function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = vm.runInNewContext("gc") as () => void;
    setFlagsFromString("--no-expose-gc"); // contexts that cells make are as they always are
  }
  gc();
}
