import { createRequire } from "node:module";
import { BlockList, isIP } from "node:net";
import type * as Ws from "ws";

export { lookup } from "node:dns/promises";
export { isIP };

const require = createRequire(import.meta.url);

/** Why pages of others cannot be read here; undefined where they can. */
export const whyNoPages: string | undefined = undefined;

/** Whether an address lies in one of these networks, given with their bits. */
export function networks(
  ipv4: readonly (readonly [string, number])[],
  ipv6: readonly (readonly [string, number])[],
): (address: string) => boolean {
  const list = new BlockList();
  for (const [net, bits] of ipv4) list.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of ipv6) list.addSubnet(net, bits, "ipv6");
  return (address) => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** What a connection says to whoever opened it. */
interface SocketEvents {
  opened(): void;
  /** A whole message, as text. */
  message(text: string): void;
  /** It is over; called once. */
  closed(why: string): void;
}

interface SocketOptions {
  headers: Readonly<Record<string, string>>;
  /** A message with more bytes ends the connection. */
  maxBytes: number;
}

export interface OpenSocket {
  send(text: string): void;
  /** Ends it in order; the other side has some seconds to agree. */
  close(): void;
}

/** Opens a WebSocket. */
export function openSocket(url: string, options: SocketOptions, events: SocketEvents): OpenSocket {
  // Loaded when it is used: most programs open no WebSocket.
  const { WebSocket } = require("ws") as typeof Ws;
  const { headers, maxBytes } = options;
  const socket = new WebSocket(url, {
    ...{ headers, maxPayload: maxBytes, handshakeTimeout: 30_000, followRedirects: false },
    perMessageDeflate: false,
  });
  let why = "";
  socket.on("open", () => {
    events.opened();
  });
  socket.on("message", (data: Buffer) => {
    events.message(data.toString("utf8"));
  });
  socket.on("error", (error) => {
    const { code, message } = error as NodeJS.ErrnoException;
    why =
      code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH"
        ? `more than ${maxBytes} bytes`
        : (code ?? message);
  });
  socket.on("close", (code) => {
    events.closed(why === "" ? `code ${code}` : why);
  });
  return {
    send: (text) => {
      socket.send(text, () => undefined); // a failure closes it, and that is told
    },
    close: () => {
      socket.close();
      setTimeout(() => {
        socket.terminate();
      }, 2000).unref();
    },
  };
}
