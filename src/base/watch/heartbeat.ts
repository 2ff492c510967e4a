/** Room for the name of what runs, in bytes. */
const longest = 400;

/**
 * A few words of memory that the main thread and its watchdog share: a count that grows while the main
 * thread's event loop turns, and the name of the user's code it is in the middle of.
 */
export class Heartbeat {
  readonly #words: Int32Array;
  readonly #text: Uint8Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(8 + longest)) {
    this.#words = new Int32Array(memory, 0, 2);
    this.#text = new Uint8Array(memory, 8);
  }

  beat(): void {
    Atomics.add(this.#words, 0, 1);
  }

  get count(): number {
    return Atomics.load(this.#words, 0);
  }

  /** Writes down what the main thread is in the middle of; "" for nothing of a user's. */
  enter(what: string): void {
    // Names are ASCII but for task ids; what does not fit is cut.
    const { written } = new TextEncoder().encodeInto(what, this.#text);
    Atomics.store(this.#words, 1, written);
  }

  get inside(): string {
    const length = Atomics.load(this.#words, 1);
    return new TextDecoder().decode(this.#text.slice(0, length));
  }
}

/** What the threads of the watchdog know of the process they look after. */
export interface WatchdogData {
  memory: SharedArrayBuffer;
  patienceMs: number;
  /** What is left when the process is ended, and what to do then. */
  afterwards: string;
}

/** The last words of a process that was kept busy. */
export function endOf(data: WatchdogData, what: string, where = ""): string {
  const seconds = Number((data.patienceMs / 1000).toPrecision(3));
  const at = where === "" ? "" : ` (${where})`;
  return `Cannot go on: ${what} must let others run within ${seconds} s, got code that does not return${at}; ${data.afterwards}`;
}
