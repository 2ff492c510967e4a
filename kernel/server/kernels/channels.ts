import { later } from "#platform/turns";
import { decodeSocket, encodeSocket, type Frames } from "./codec.js";
import type { Line } from "./line.js";
import type { Listener } from "./listener.js";
import type { RunningKernel } from "./running-kernel.js";

/** How much is kept for a front end that is away, and for how long. */
export interface BufferLimits {
  bytes: number;
  time: number;
}

/** More than this unsent means that the page no longer reads. */
const maxUnsent = 512 << 20;

/**
 * One front end's line to a kernel. When the line breaks, what comes for it is kept; when the same
 * session connects again it is sent first.
 */
export class ChannelSession implements Listener {
  readonly id: string;
  readonly #kernel: RunningKernel;
  readonly #limits: BufferLimits;
  readonly #forget: () => void;
  #socket: Line | undefined;
  #kept: Frames[] = [];
  #keptBytes = 0;
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

  /** Takes a connection; an older one of the same session is closed. */
  attach(socket: Line): void {
    this.#socket?.close(1000, "the session connected again");
    this.#socket = socket;
    clearTimeout(this.#patience);
    socket.onMessage((data, binary) => this.#onMessage(socket, data, binary));
    socket.onClose(() => {
      if (this.#socket === socket) this.#detach();
    });
    const kept = this.#kept;
    this.#kept = [];
    this.#keptBytes = 0;
    for (const frames of kept) this.receive(frames);
  }

  #detach(): void {
    this.#socket = undefined;
    this.#patience = later(() => this.#drop(), this.#limits.time);
  }

  #drop(): void {
    this.#kept = [];
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
    const socket = this.#socket;
    if (socket !== undefined) {
      socket.send(encodeSocket(socket.protocol, frames));
      if (socket.bufferedAmount > maxUnsent) socket.terminate();
      return;
    }
    this.#kept.push(frames);
    this.#keptBytes += frames.content.length + frames.buffers.reduce((n, b) => n + b.length, 0);
    // Rather nothing than a part that looks whole: the front end finds its session gone.
    if (this.#keptBytes > this.#limits.bytes) {
      clearTimeout(this.#patience);
      this.#drop();
    }
  }

  close(): void {
    clearTimeout(this.#patience);
    this.#forget();
    this.#socket?.close(1001, "the kernel was shut down");
    this.#socket = undefined;
  }
}
