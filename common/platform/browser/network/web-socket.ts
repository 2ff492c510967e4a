import type * as node from "../../node/network/web-socket.js";

/** Opens a WebSocket. A tab can send no headers with one. */
export const openSocket: typeof node.openSocket = (url, { headers, maxBytes }, events) => {
  if (Object.keys(headers).length > 0)
    throw new Error("Cannot open a WebSocket with a token: a browser tab can send none");
  const socket = new WebSocket(url);
  let why: string | undefined;
  socket.onopen = () => void events.opened();
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (why !== undefined) return;
    if (typeof data === "string" && new TextEncoder().encode(data).length <= maxBytes)
      return void events.message(data);
    why = `more than ${maxBytes} bytes`;
    socket.close();
  };
  socket.onclose = ({ code }) => void events.closed(why ?? `code ${code}`);
  return { send: (text) => void socket.send(text), close: () => void socket.close() };
};
