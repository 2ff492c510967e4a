import type * as node from "../node/input.js";
import { sharesMemory } from "#platform/process";
import { type InputAnswer, WORDS, WORDS_BYTES } from "../contract/bridge.js";

/** Where in the shared words the text of an answer lies: its length in bytes, then the bytes. */
const LENGTH = WORDS_BYTES / 4;
const TEXT = WORDS_BYTES + 4;
/** How long an answer may be that a thread waits for without yielding. */
const MOST = 1 << 16;

/** Words that the threads of a kernel share, with room for an answer; shared where the page may. */
export function makeWords(): SharedArrayBuffer | ArrayBuffer {
  const size = TEXT + MOST;
  return sharesMemory() ? new SharedArrayBuffer(size) : new ArrayBuffer(size);
}

/** Puts an answer where a thread that waits finds it; the count goes up after that. */
export function leaveAnswer(words: SharedArrayBuffer | ArrayBuffer, answer: InputAnswer): void {
  const bytes = new TextEncoder().encode(JSON.stringify(answer)).subarray(0, MOST);
  new Uint8Array(words).set(bytes, TEXT);
  new Int32Array(words, 0, TEXT / 4)[LENGTH] = bytes.length;
}

/** Where answers to input arrive: as messages, and in the shared words. */
export class TabInput {
  readonly #listeners = new Set<(answer: InputAnswer) => void>();
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  /** Answers taken from the words, whose messages are still to come. */
  #taken = 0;
  #seen = 0;

  constructor(port: MessagePort, words: SharedArrayBuffer | ArrayBuffer) {
    this.#words = new Int32Array(words, 0, TEXT / 4);
    this.#bytes = new Uint8Array(words);
    port.onmessage = ({ data }: MessageEvent<InputAnswer>) => {
      if (this.#taken > 0) return void this.#taken--;
      this.#seen++;
      for (const listener of [...this.#listeners]) listener(data);
    };
  }

  on(_: string, listener: (answer: InputAnswer) => void): void {
    this.#listeners.add(listener);
  }

  off(_: string, listener: (answer: InputAnswer) => void): void {
    this.#listeners.delete(listener);
  }

  unref(): void {
    // A tab's thread lives until it is ended.
  }

  now(): InputAnswer | undefined {
    if (this.#bytes.buffer instanceof ArrayBuffer) {
      return {
        ok: false,
        reason:
          "Cannot ask for input in the middle of a computation: the threads of this page share no memory; write await prompt(…)",
      };
    }
    if (Atomics.load(this.#words, WORDS.inputs) === this.#seen + this.#taken) return undefined;
    this.#taken++;
    this.#seen++;
    const bytes = this.#bytes.slice(TEXT, TEXT + this.#words[LENGTH]!);
    return JSON.parse(new TextDecoder().decode(bytes)) as InputAnswer;
  }
}

export const inputNow: typeof node.inputNow = (port) => (port as unknown as TabInput).now();
