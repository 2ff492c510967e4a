import { inspect } from "node:util";

type Told = (error: unknown) => void;

/**
 * Hears of errors that nobody waits for, until what is given back is called; undefined where somebody else
 * has already said what becomes of them.
 */
export function onUnhandledErrors(onRejection: Told, onException: Told): (() => void) | undefined {
  if (process.listenerCount("unhandledRejection") > 0) return undefined;
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onException);
  return () => {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onException);
  };
}

/** Ends the process with an error that may have left anything half done. */
export function exitWith(error: unknown): never {
  process.stderr.write(`${inspect(error)}\n`);
  process.exit(1);
}
