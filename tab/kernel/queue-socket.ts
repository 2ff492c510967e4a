import type { FrameSocket } from "../../kernel/contract/sockets.js";

/** A socket within a page: what is delivered is read in order, what is sent is handed on at once. */
export class QueueSocket implements FrameSocket {
  readonly #sent: (frames: Uint8Array[]) => void;
  #waiting: Uint8Array[][] = [];
  #wake: (() => void) | undefined;
  closed = false;

  constructor(sent: (frames: Uint8Array[]) => void) {
    this.#sent = sent;
  }

  deliver(frames: Uint8Array[]): void {
    this.#waiting.push(frames);
    this.#wake?.();
  }

  send(frames: Uint8Array[]): Promise<void> {
    if (!this.closed) this.#sent(frames);
    return Promise.resolve();
  }

  close(): void {
    this.closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array[]> {
    while (!this.closed) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((wake) => (this.#wake = wake));
    }
  }
}
