import { soon } from "#platform/process";
import { WORDS, type FromMain } from "../contract/bridge.js";
import type { Port } from "../contract/port.js";

/** The main thread waits when this many characters are on their way to the network. */
const LIMIT = 1 << 25;
/** A text leaves when it is this long, … */
const CHUNK = 1 << 16;
/** … or this old, in milliseconds, … */
const AGE = 20;
/** … or one of the first after silence: what a cell says before it computes is seen meanwhile, … */
const EAGER = 4;

/**
 * Everything the main thread says to the wire thread, in order. Texts are gathered; when the network
 * is slower than the cell, the cell waits, as it would on a full pipe, so nothing is ever dropped.
 */
export class Channel {
  readonly #wire: Port;
  readonly #words: Int32Array;
  #texts: string[] = [];
  #length = 0;
  #stream: { id: string; name: "stdout" | "stderr" } | undefined;
  #since = 0;
  #scheduled = false;
  #last = -AGE;
  #eager = 0;

  constructor(wire: Port, words: Int32Array) {
    this.#wire = wire;
    this.#words = words;
  }

  stream(id: string, name: "stdout" | "stderr", text: string): void {
    if (text === "") return;
    const stream = this.#stream;
    const now = performance.now();
    if (stream === undefined || stream.id !== id || stream.name !== name) {
      this.flush();
      this.#stream = { id, name };
      this.#since = now;
    }
    this.#texts.push(text);
    this.#length += text.length;
    if (now - this.#last > AGE) this.#eager = EAGER;
    this.#last = now;
    if (this.#length >= CHUNK || now - this.#since > AGE || this.#eager-- > 0) this.flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      // … or as soon as the cell yields the thread.
      soon(() => {
        this.#scheduled = false;
        this.flush();
      });
    }
  }

  /** Sends anything else, after the text gathered so far. */
  send(message: FromMain): void {
    this.flush();
    const weight = weigh(message);
    if (weight === 0) return this.#wire.postMessage(message);
    Atomics.add(this.#words, WORDS.inFlight, weight);
    this.#wire.postMessage({ ...message, weight });
    this.#waitForRoom();
  }

  /** After an interrupt, which may have taken the scheduled flush with it. */
  recover(): void {
    this.#scheduled = false;
    this.flush();
  }

  flush(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    const text = this.#texts.length === 1 ? this.#texts[0]! : this.#texts.join("");
    this.#stream = undefined;
    this.#texts = [];
    this.#length = 0;
    const weight = text.length;
    Atomics.add(this.#words, WORDS.inFlight, weight);
    this.#wire.postMessage({ type: "stream", ...stream, text, weight } satisfies FromMain);
    this.#waitForRoom();
  }

  #waitForRoom(): void {
    if (this.#words.buffer instanceof ArrayBuffer) return; // nobody else counts in it
    for (;;) {
      const inFlight = Atomics.load(this.#words, WORDS.inFlight);
      if (inFlight <= LIMIT) break;
      Atomics.wait(this.#words, WORDS.inFlight, inFlight);
    }
  }
}

/** Roughly the characters of what can come in any number: 0 for the rest. */
function weigh(message: FromMain): number {
  if (message.type === "comm") {
    return message.buffers.reduce((sum, { byteLength }) => sum + byteLength, 1000);
  }
  if (message.type !== "display") return 0;
  return Object.values(message.bundle).reduce<number>(
    (sum, content) => sum + (typeof content === "string" ? content.length : 1000),
    0,
  );
}
