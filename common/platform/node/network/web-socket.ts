import WebSocket from "ws";

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
