import type { WebSocket } from "ws";

/** What is asked of a page's connection: a socket of `ws`, or one within a page. */
export interface Line {
  readonly protocol: string;
  /** Bytes that are not on their way yet. */
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): void;
  /** Calls back when the other end has received all that was sent before. */
  confirm(received: () => void): void;
  close(code: number, reason: string): void;
  /** At once, without a word. */
  terminate(): void;
  onMessage(heard: (data: Uint8Array, binary: boolean) => void): void;
  onClose(gone: () => void): void;
}

const heartbeat = 30_000;

/** A web socket as a line; one whose other end is silent is ended. */
export function socketLine(socket: WebSocket): Line {
  let alive = true;
  let asked = 0;
  const waiting = new Map<string, () => void>();
  const beat = setInterval(() => {
    if (!alive) socket.terminate();
    alive = false;
    socket.ping();
  }, heartbeat);
  socket.on("pong", (data) => {
    alive = true;
    const number = data.toString();
    waiting.get(number)?.();
    waiting.delete(number);
  });
  socket.on("error", () => socket.terminate());
  socket.on("close", () => clearInterval(beat));
  return {
    get protocol() {
      return socket.protocol;
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    send: (data) => socket.send(data),
    confirm: (received) => {
      const number = String(++asked);
      waiting.set(number, received);
      socket.ping(number, undefined, () => undefined);
    },
    close: (code, reason) => socket.close(code, reason),
    terminate: () => socket.terminate(),
    onMessage: (heard) =>
      void socket.on("message", (data: Buffer, binary: boolean) => heard(data, binary)),
    onClose: (gone) => void socket.on("close", gone),
  };
}
