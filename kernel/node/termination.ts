// The last resort of an interrupt is to terminate whatever JavaScript the main thread is running (the
// wire thread asks the inspector to). Node then finds its async-id stack unbalanced, because
// termination skips `finally`, and aborts the process over it. Two counters in Node's own table decide
// whether it checks; with both at 0 it does not, and the stack is emptied by hand afterwards.
import { createHook } from "node:async_hooks";
import { expectTornFiles } from "./quiet-warning.js";

interface AsyncWrapBinding {
  async_hook_fields?: Uint32Array;
  constants?: { kCheck?: number; kTotals?: number };
}

function asyncWrap(): AsyncWrapBinding {
  const { noDeprecation = false } = process;
  try {
    process.noDeprecation = true;
    return (process as unknown as { binding(name: string): AsyncWrapBinding }).binding(
      "async_wrap",
    );
  } catch {
    return {};
  } finally {
    process.noDeprecation = noDeprecation;
  }
}

/** Thrown where nobody catches it, to make Node empty its async-id stack. */
const reset = Symbol("reset");

/** True for the value that `surviveTermination` throws to clean up: handlers must ignore it. */
export const isReset = (value: unknown): boolean => value === reset;

/**
 * Makes the main thread fit to be terminated and go on. Returns what to call after each time.
 */
export function surviveTermination(): () => void {
  const { async_hook_fields: fields, constants } = asyncWrap();
  const { kCheck, kTotals } = constants ?? {};
  if (fields !== undefined && kCheck !== undefined && kTotals !== undefined) {
    const uncheck = (): void => {
      fields[kCheck] = 0;
      fields[kTotals] = 0;
    };
    // Enabling any hook, as AsyncLocalStorage does, turns the checks on again.
    const prototype = Object.getPrototypeOf(createHook({})) as { enable: () => unknown };
    const { enable } = prototype;
    prototype.enable = function (this: unknown) {
      const result = enable.call(this);
      uncheck();
      return result;
    };
    uncheck();
  }
  return () => {
    expectTornFiles();
    setTimeout(() => {
      throw reset;
    }, 0);
  };
}
