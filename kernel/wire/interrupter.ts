import { readFileSync, readdirSync } from "node:fs";
import { Session } from "node:inspector";
import { WORDS } from "../run/bridge.js";

/** How long compiled code gets to notice by itself, which keeps its `finally` blocks running. */
const GRACE = 40;
/** How often to try again while the main thread does not answer. */
const AGAIN = 25;
/** After this long the main thread is inside a child process or native code. */
const CHILDREN = 120;

/**
 * Stops whatever the main thread is doing. First politely: a flag that loops of cells check and a
 * message that ends a cell that waits. A main thread that does not answer is running code we did not
 * compile: the inspector terminates it, again and again until the thread is back in its event loop.
 */
export class Interrupter {
  readonly #words: Int32Array;
  readonly #ask: () => void;
  readonly #session = new Session();
  #timer: NodeJS.Timeout | undefined;

  /** `ask` sends the message; its answer must call `answered`. */
  constructor(words: Int32Array, ask: () => void) {
    this.#words = words;
    this.#ask = ask;
    // Connecting waits for the main thread, so it cannot be left until that thread is stuck.
    this.#session.connectToMainThread();
  }

  get pending(): boolean {
    return this.#timer !== undefined;
  }

  interrupt(): void {
    if (this.pending) return;
    const since = performance.now();
    Atomics.store(this.#words, WORDS.interrupt, 1);
    this.#ask();
    const terminate = (): void => {
      this.#timer = setTimeout(terminate, AGAIN);
      this.#session.post("Runtime.terminateExecution");
      if (performance.now() - since > CHILDREN) interruptChildren();
    };
    this.#timer = setTimeout(terminate, GRACE);
  }

  answered(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    Atomics.store(this.#words, WORDS.interrupt, 0);
  }

  /** Before the process ends, which would otherwise wait for a debugger to leave. */
  close(): void {
    clearTimeout(this.#timer);
    this.#session.disconnect();
  }
}

/** Where the system tells: a blocking child, as of `execSync`, gets the signal a terminal would send. */
function interruptChildren(): void {
  const tasks = `/proc/${process.pid}/task`;
  let threads: string[];
  try {
    threads = readdirSync(tasks);
  } catch {
    return; // not Linux: Atomics and the inspector are all there is
  }
  for (const thread of threads) {
    const children = readFileSync(`${tasks}/${thread}/children`, "utf8").split(" ");
    for (const child of children) if (Number(child) > 0) process.kill(Number(child), "SIGINT");
  }
}
