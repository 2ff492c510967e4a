import { Heartbeat, type WatchdogData } from "./heartbeat.js";
import { observe, origin, unsettled } from "./running.js";
import { UnhandledErrors } from "./unhandled-errors.js";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Worker } from "node:worker_threads";

// Asked by the inspector, which halts this thread wherever it is.
(globalThis as Record<symbol, unknown>)[Symbol.for("arpo-lab.origin")] = origin;

/** Ends the process, saying why, where a user's code keeps its event loop from turning for too long. */
class Watchdog {
  readonly #heart = new Heartbeat();
  readonly #thread: Worker;
  readonly #timer: NodeJS.Timeout;
  /** Resolves when it watches: its threads cannot be started once this one does not answer. */
  readonly ready: Promise<void>;

  constructor(options: Omit<WatchdogData, "memory">) {
    const workerData: WatchdogData = { ...options, memory: this.#heart.memory };
    this.#thread = new Worker(new URL("./watchdog-thread.js", import.meta.url), {
      workerData,
      execArgv: [],
    });
    this.ready = new Promise((resolve) => {
      const done = () => {
        this.#thread.unref();
        resolve();
      };
      this.#thread.once("message", done);
      // What cannot be watched runs on unwatched.
      this.#thread.on("error", done);
      this.#thread.once("exit", done);
    });
    this.#timer = setInterval(
      () => {
        this.#heart.beat();
      },
      Math.min(500, options.patienceMs / 4),
    ).unref();
  }

  /** What the main thread is in the middle of; "" for nothing of a user's. */
  enter(what: string): void {
    this.#heart.enter(what);
  }

  end(): void {
    clearInterval(this.#timer);
    void this.#thread.terminate();
  }
}

interface GuardOptions {
  /** Told of what would have ended the process. */
  report: (message: string) => void;
  /** What is left if the process must be ended all the same, and what to do then. */
  afterwards: string;
  /** How long a user's code may keep the event loop from turning. Default: five minutes. */
  patienceMs?: number;
}

/** How Node itself ends a process. */
type Ending = NodeJS.Process & { reallyExit(code: number): never };

/** Why an event loop that has nothing left to wait for is no end of the run. */
function nothingLeft(afterwards: string): string {
  const [first = "a promise of the run", ...others] = [...new Set(unsettled())];
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `Cannot go on: ${first}${more} must settle, got a promise that nothing is left to settle; ${afterwards}`;
}

/**
 * Looks after a process in which code of a user's runs, until `end`: errors that nobody waits for are
 * reported and do not end it; `process.exit` from a tool or a reward throws there; a promise that never
 * settles, or code that never returns, ends it with a sentence and status 1 and not with a success.
 */
export function guardProcess(options: GuardOptions): { end: () => void } {
  const { report, afterwards, patienceMs = 300_000 } = options;
  const unhandled = UnhandledErrors.watch(report);
  let watchdog: Watchdog | undefined;
  observe({
    tell: (what) => watchdog?.enter(what),
    userCode: () => (watchdog ??= new Watchdog({ patienceMs, afterwards })).ready,
  });

  const { exit } = process;
  process.exit = ((code?: number) => {
    const what = origin();
    if (what === undefined) exit.call(process, code);
    const got = `process.exit(${code ?? ""})`;
    report(`${what} called ${got}: the run goes on without it`);
    throw new Error(`Cannot exit: ${what} must leave the process to the run, got ${got}`);
  }) as typeof process.exit;
  syncBuiltinESMExports();

  // 13 is Node's word for a program that waits for something that will never come.
  const onExit = (code: number) => {
    if (code !== 0 && code !== 13) return;
    writeSync(2, `${nothingLeft(afterwards)}\n`);
    (process as Ending).reallyExit(1);
  };
  process.on("exit", onExit);

  return {
    end: () => {
      unhandled.end();
      watchdog?.end();
      observe({ tell: () => undefined, userCode: () => Promise.resolve() });
      process.exit = exit;
      syncBuiltinESMExports();
      process.off("exit", onExit);
    },
  };
}
