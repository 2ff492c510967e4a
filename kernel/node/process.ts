import { InterruptError } from "../host/host.js";
import { expectTornFiles } from "./quiet-warning.js";
import { createHook } from "node:async_hooks";
import type { EventEmitter } from "node:events";
import { Readable } from "node:stream";

type Listener = (...args: never[]) => void;

/**
 * Adds listeners that code in cells does not take away: `process.removeAllListeners()` takes all others,
 * and with the kernel's own the next error that nobody caught would end the process.
 */
function keepListeners(target: EventEmitter, kept: Record<string, Listener>): void {
  const names = Object.keys(kept);
  const restore = (): void => {
    for (const name of names) {
      const listener = kept[name] as (...args: unknown[]) => void;
      if (!target.listeners(name).includes(listener)) target.prependListener(name, listener);
    }
  };
  restore();
  for (const name of ["off", "removeListener", "removeAllListeners"] as const) {
    const take = target[name] as (...args: unknown[]) => EventEmitter;
    Object.defineProperty(target, name, {
      value(this: EventEmitter, ...args: unknown[]): EventEmitter {
        const result = take.apply(this, args);
        restore();
        return result;
      },
      configurable: true,
      writable: true,
    });
  }
}

/**
 * A kernel's `process.stdin`: a program that reads it, `node:readline` for one, asks the person at the
 * front end, line by line, and only while it is listening.
 */
class AskedLines extends Readable {
  readonly fd = 0;
  readonly isTTY = false;
  readonly #ask: () => Promise<string>;
  /** The stream wants a line, and nobody has been asked for it yet. */
  #owed = false;
  #asking = false;

  constructor(ask: () => Promise<string>) {
    super({ encoding: "utf8" });
    this.#ask = ask;
  }

  override _read(): void {
    this.#owed = true;
    this.#askSoon();
  }

  override resume(): this {
    super.resume();
    this.#askSoon();
    return this;
  }

  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    super.on(event, listener as (...args: unknown[]) => void);
    if (event === "readable") this.#askSoon();
    return this;
  }

  /** Not at once: who has read all it wanted says so a little after its last line. */
  #askSoon(): void {
    if (!this.#owed || this.#asking) return;
    this.#asking = true;
    setTimeout(() => {
      if (!this.#isHeard()) return void (this.#asking = false);
      this.#ask().then(
        (line) => {
          this.#owed = this.#asking = false;
          this.push(`${line}\n`);
        },
        (error: unknown) => {
          this.#asking = false;
          if (error instanceof InterruptError) return; // the cell has said so
          setImmediate(() => {
            throw error; // an error of the cell that reads
          });
        },
      );
    }, 10);
  }

  #isHeard(): boolean {
    if (this.listenerCount("readable") > 0) return true;
    return this.readableFlowing === true && this.listenerCount("data") > 0;
  }
}

/** Makes reading `process.stdin` ask for lines. */
function askForStdin(ask: () => Promise<string>): void {
  let stdin: AskedLines | undefined;
  Object.defineProperty(process, "stdin", {
    get: () => {
      if (stdin === undefined || stdin.destroyed) stdin = new AskedLines(ask);
      return stdin;
    },
    configurable: true,
    enumerable: true,
  });
}

// The last resort of an interrupt is to terminate whatever JavaScript the main thread is running (the
// wire thread asks the inspector to). Node then finds its async-id stack unbalanced, because
// termination skips `finally`, and aborts the process over it. Two counters in Node's own table decide
// whether it checks; with both at 0 it does not, and the stack is emptied by hand afterwards.

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
const isReset = (value: unknown): boolean => value === reset;

/**
 * Makes the main thread fit to be terminated and go on. Returns what to call after each time.
 */
function surviveTermination(): () => void {
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

/** What becomes of what a program shares with its process. */
interface Takers {
  print(name: "stdout" | "stderr", text: string): void;
  /** An error that nobody caught. */
  uncaught(error: unknown): void;
  rejected(reason: unknown, promise: Promise<unknown>): void;
  /** Asks for a line of input. */
  ask(): Promise<string>;
}

/** What is left of the process for the kernel itself. */
interface Captured {
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
