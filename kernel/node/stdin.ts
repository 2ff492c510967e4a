import { Readable } from "node:stream";
import { InterruptError } from "../host/interrupt-error.js";

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
export function askForStdin(ask: () => Promise<string>): void {
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
