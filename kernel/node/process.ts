import { keepListeners } from "./keep-listeners.js";
import { askForStdin } from "./stdin.js";
import { isReset, surviveTermination } from "./termination.js";

/** What becomes of what a program shares with its process. */
export interface Takers {
  print(name: "stdout" | "stderr", text: string): void;
  /** An error that nobody caught. */
  uncaught(error: unknown): void;
  rejected(reason: unknown, promise: Promise<unknown>): void;
  /** Asks for a line of input. */
  ask(): Promise<string>;
}

/** What is left of the process for the kernel itself. */
export interface Captured {
  exit(code: number): void;
  /** To be called after each interrupt. */
  cleanUp(): void;
}

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
 * Takes over what a program shares with its process: stdout, stderr, stdin, exit, and errors that nobody
 * caught.
 */
export function captureProcess({ print, uncaught, rejected, ask }: Takers): Captured {
  const cleanUp = surviveTermination();
  for (const name of ["stdout", "stderr"] as const) {
    const decoder = new TextDecoder();
    process[name].write = ((chunk: string | Uint8Array, encoding?: unknown, callback?: unknown) => {
      const text =
        typeof chunk === "string"
          ? typeof encoding === "string" && encoding !== "utf8" && encoding !== "utf-8"
            ? Buffer.from(chunk, encoding as BufferEncoding).toString()
            : chunk
          : decoder.decode(chunk, { stream: true });
      print(name, text);
      const done = typeof encoding === "function" ? encoding : callback;
      if (typeof done === "function") process.nextTick(done as () => void);
      return true;
    }) as Write;
  }
  const exit = process.exit.bind(process);
  process.exit = (code?: number | string | null): never => {
    throw new ExitError(code ?? process.exitCode ?? 0);
  };
  keepListeners(process, {
    uncaughtException: (error: unknown) => {
      // null is what an interrupt leaves behind.
      if (!isReset(error) && error !== null) uncaught(error);
    },
    unhandledRejection: rejected,
    // The wire thread hears it even while this one computes; here it must only not end the process.
    SIGINT: () => undefined,
  });
  askForStdin(ask);
  return { exit, cleanUp };
}
