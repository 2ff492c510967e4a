import { Worker } from "node:worker_threads";
import { Heartbeat } from "./heartbeat.js";
import { origin } from "./running.js";
import type { WatchdogData } from "./watchdog-data.js";

// Asked by the inspector, which halts this thread wherever it is.
(globalThis as Record<symbol, unknown>)[Symbol.for("arpo-lab.origin")] = origin;

/** Ends the process, saying why, where a user's code keeps its event loop from turning for too long. */
export class Watchdog {
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
