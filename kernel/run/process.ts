import type { Channel } from "./channel.js";
import { cellOfPromise, currentCell } from "./cell.js";
import { takeUncaught } from "./debug/run-uncaught.js";
import { keepListeners } from "./keep-listeners.js";
import { isReset } from "./termination.js";
import type { Tracebacks } from "./traceback.js";

type Write = typeof process.stdout.write;

/** What `process.exit()` throws in a cell: the kernel and its variables stay. */
export class ExitError extends Error {
  override name = "ExitError";
  constructor(readonly code: number | string) {
    super(
      `process.exit(${code}) ends this cell, not the kernel; restart or shut it down from the front end`,
    );
  }
}

/**
 * Takes over what a program shares with its process: stdout, stderr, exit, and errors that nobody
 * caught. Returns the real exit.
 */
export function captureProcess(parts: {
  channel: Channel;
  tracebacks: Tracebacks;
}): (code: number) => never {
  const { channel, tracebacks } = parts;
  for (const name of ["stdout", "stderr"] as const) {
    const decoder = new TextDecoder();
    process[name].write = ((chunk: string | Uint8Array, encoding?: unknown, callback?: unknown) => {
      const text =
        typeof chunk === "string"
          ? typeof encoding === "string" && encoding !== "utf8" && encoding !== "utf-8"
            ? Buffer.from(chunk, encoding as BufferEncoding).toString()
            : chunk
          : decoder.decode(chunk, { stream: true });
      channel.stream(currentCell()?.id ?? "", name, text);
      const done = typeof encoding === "function" ? encoding : callback;
      if (typeof done === "function") process.nextTick(done as () => void);
      return true;
    }) as Write;
  }
  const exit = process.exit.bind(process);
  process.exit = (code?: number | string | null): never => {
    throw new ExitError(code ?? process.exitCode ?? 0);
  };
  const report = (error: unknown, id: string): void => {
    channel.send({ type: "error", id, error: tracebacks.report(error) });
  };
  keepListeners(process, {
    uncaughtException: (error: unknown) => {
      // null is what an interrupt leaves behind.
      if (!isReset(error) && error !== null) report(error, currentCell()?.id ?? "");
    },
    unhandledRejection: (reason: unknown, promise: Promise<unknown>) => {
      if (!takeUncaught(promise, reason)) report(reason, cellOfPromise(promise)?.id ?? "");
    },
    // The wire thread hears it even while this one computes; here it must only not end the process.
    SIGINT: () => undefined,
  });
  return exit;
}
