import type * as node from "../node/network.js";

const why = "a browser tab may not read pages of other sites";
export const whyNoPages: typeof node.whyNoPages = why;

export const lookup: typeof node.lookup = (name: string): Promise<never> =>
  Promise.reject(new Error(`Cannot look up ${name}: ${why}`));

export const isIP: typeof node.isIP = (host) => {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) return host.split(".").every((n) => +n < 256) ? 4 : 0;
  return host.includes(":") && URL.canParse(`http://[${host}]`) ? 6 : 0;
};

/** No page is read, so no address need be told from others: all count as inside. */
export const networks: typeof node.networks = () => () => true;

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
