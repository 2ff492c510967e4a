import { later } from "#platform/process";
import { decodeSocket, encodeSocket, type Frames } from "./codec.js";
import type { Line } from "./socket-line.js";
import type { Listener } from "./listener.js";
import type { RunningKernel } from "./running-kernel.js";

/** How much is kept for a front end that is away, and for how long. */
interface BufferLimits {
  bytes: number;
  time: number;
}

/** More than this unsent means that the page no longer reads. */
const maxUnsent = 512 << 20;

const sizeOf = ({ content, buffers }: Frames): number =>
  content.length + buffers.reduce((sum, { length }) => sum + length, 0);

/**
 * One front end's line to a kernel. What it is not known to have received is kept: when the line breaks and
 * the same session connects again, that is sent first.
 */
export class ChannelSession implements Listener {
  readonly id: string;
  readonly #kernel: RunningKernel;
  readonly #limits: BufferLimits;
  readonly #forget: () => void;
  #socket: Line | undefined;
  /** How many messages there were for this front end. */
  #count = 0;
  /** The last of them, which it may not have received. */
  #kept: Frames[] = [];
  #keptBytes = 0;
  #isConfirming = false;
  /** A message before this one was not kept, and may not have been received. */
  #gap = 0;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, kernel: RunningKernel, limits: BufferLimits, forget: () => void) {
    this.id = id;
    this.#kernel = kernel;
    this.#limits = limits;
    this.#forget = forget;
    kernel.listeners.add(this);
  }

  get connected(): boolean {
    return this.#socket !== undefined;
  }

  /**
   * Takes a connection; an older one of the same session is closed. `had` is how many messages the front
   * end has received in all; one that does not say may get those again whose arrival was not confirmed.
   */
  attach(socket: Line, had?: number): void {
    this.#socket?.close(1000, "the session connected again");
    this.#socket = socket;
    this.#isConfirming = false;
    clearTimeout(this.#patience);
    socket.onMessage((data, binary) => this.#onMessage(socket, data, binary));
    socket.onClose(() => {
      if (this.#socket === socket) this.#detach();
    });
    if (had !== undefined) {
      this.#arrived(had);
      this.#count = Math.max(this.#count, had);
    }
    if (this.#gap > 0) this.#startAgain();
    for (const frames of [...this.#kept]) this.#send(socket, frames);
  }

  /** Messages are missing: it is told of its cells' runs as one that comes for the first time. */
  #startAgain(): void {
    this.#clear();
    this.#gap = 0;
    this.#kernel.forget(this);
    this.#kernel.listeners.add(this);
  }

  #clear(): void {
    this.#kept = [];
    this.#keptBytes = 0;
  }

  /** The front end has received so many messages. */
  #arrived(count: number): void {
    const first = this.#count - this.#kept.length;
    for (const frames of this.#kept.splice(0, Math.max(0, count - first))) {
      this.#keptBytes -= sizeOf(frames);
    }
    if (count >= this.#gap) this.#gap = 0;
  }

  /** Asks the other end whether it has received all; one question at a time. */
  #confirm(socket: Line): void {
    if (this.#isConfirming) return;
    this.#isConfirming = true;
    const count = this.#count;
    socket.confirm(() => {
      if (this.#socket !== socket) return;
      this.#isConfirming = false;
      this.#arrived(count);
      if (this.#count > count) this.#confirm(socket);
    });
  }

  #detach(): void {
    this.#socket = undefined;
    this.#patience = later(() => this.#drop(), this.#limits.time);
  }

  #drop(): void {
    clearTimeout(this.#patience);
    this.#clear();
    this.#kernel.forget(this);
    this.#forget();
  }

  #onMessage(socket: Line, data: Uint8Array, binary: boolean): void {
    let frames: Frames;
    try {
      frames = decodeSocket(socket.protocol, data, binary);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      socket.close(1003, reason.slice(0, 120));
      return;
    }
    void this.#kernel.send(frames, this).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      socket.close(1011, reason.slice(0, 120));
    });
  }

  receive(frames: Frames): void {
    this.#count++;
    this.#kept.push(frames);
    this.#keptBytes += sizeOf(frames);
    const isTooMuch = this.#keptBytes > this.#limits.bytes;
    if (this.#socket !== undefined) {
      this.#send(this.#socket, frames);
      if (!isTooMuch) return;
      this.#clear();
      this.#gap = this.#count;
    }
    // Rather nothing than a part that looks whole: the front end finds its session gone.
    else if (isTooMuch) this.#drop();
  }

  #send(socket: Line, frames: Frames): void {
    socket.send(encodeSocket(socket.protocol, frames));
    if (socket.bufferedAmount > maxUnsent) socket.terminate();
    else this.#confirm(socket);
  }

  close(): void {
    clearTimeout(this.#patience);
    this.#forget();
    this.#socket?.close(1001, "the kernel was shut down");
    this.#socket = undefined;
  }
}
