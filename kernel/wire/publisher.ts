import { utf8Bytes } from "#platform/bytes";
import type { FrameSocket } from "../contract/sockets.js";
import type { Encoder, Header, Json, Outgoing } from "./message.js";

/** Consecutive texts of a stream are sent as one message up to this many characters. */
const COALESCE = 1 << 16;
/** Milliseconds to the next attempt when a subscriber is too far behind. */
const AGAIN = 5;

interface Stream {
  name: string;
  parent: Header | undefined;
  texts: string[];
  length: number;
  sent: (() => void)[];
}

interface Other {
  message: Outgoing;
  sent: (() => void)[];
}

/**
 * The one way out to iopub. Messages leave in the order they came, each send awaited before the next;
 * while one is under way, adjacent texts of the same stream grow into one message. Where a
 * subscriber is too far behind, everything waits until it has caught up or is gone.
 */
export class Publisher {
  readonly #socket: FrameSocket;
  readonly #encoder: Encoder;
  #queue: (Stream | Other)[] = [];
  #sending = false;
  #drained: (() => void)[] = [];

  constructor(socket: FrameSocket, encoder: Encoder) {
    this.#socket = socket;
    this.#encoder = encoder;
  }

  publish(
    type: string,
    content: Json,
    parent: Header | undefined,
    extra?: Pick<Outgoing, "metadata" | "buffers"> & { sent?: () => void },
  ): void {
    const message: Outgoing = { type, content, parent };
    if (extra?.metadata) message.metadata = extra.metadata;
    if (extra?.buffers) message.buffers = extra.buffers;
    this.#queue.push({ message, sent: extra?.sent ? [extra.sent] : [] });
    void this.#pump();
  }

  /** `sent` is called when the text has been handed to the network. */
  stream(name: string, text: string, parent: Header | undefined, sent: () => void): void {
    const last = this.#queue.at(-1);
    if (
      last !== undefined &&
      "texts" in last &&
      last.name === name &&
      last.parent === parent &&
      last.length + text.length <= COALESCE
    ) {
      last.texts.push(text);
      last.length += text.length;
      last.sent.push(sent);
    } else {
      this.#queue.push({ name, parent, texts: [text], length: text.length, sent: [sent] });
    }
    void this.#pump();
  }

  /** Resolves when everything published so far has been handed to the network. */
  drained(): Promise<void> {
    if (!this.#sending) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  async #pump(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    while (this.#queue.length > 0) {
      const queue = this.#queue;
      this.#queue = [];
      for (const item of queue) await this.#send(item);
    }
    this.#sending = false;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  async #send(item: Stream | Other): Promise<void> {
    const message =
      "texts" in item
        ? {
            type: "stream",
            content: { name: item.name, text: item.texts.join("") },
            parent: item.parent,
          }
        : item.message;
    try {
      await this.#hand(message);
    } catch (error) {
      if (this.#socket.closed) return;
      const text = `Cannot send ${message.type}: ${String(error)}\n`;
      const content = { name: "stderr", text };
      await this.#hand({ type: "stream", content, parent: message.parent });
    } finally {
      for (const sent of item.sent) sent();
    }
  }

  /** Hands a message to the network as soon as every subscriber can take it. */
  async #hand(message: Outgoing): Promise<void> {
    const frames = this.#encoder.encode(message, [utf8Bytes(message.type)]);
    for (;;) {
      try {
        return await this.#socket.send(frames);
      } catch (error) {
        if ((error as { code?: string }).code !== "EAGAIN" || this.#socket.closed) throw error;
        await new Promise((later) => setTimeout(later, AGAIN));
      }
    }
  }
}
