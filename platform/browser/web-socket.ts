import type * as node from "../node/web-socket.js";

/** Opens a WebSocket. A tab can send no headers with one. */
export const openSocket: typeof node.openSocket = (url, { headers, maxBytes }, events) => {
  if (Object.keys(headers).length > 0) {
    throw new Error("Cannot open a WebSocket with a token: a browser tab can send none");
  }
  const socket = new WebSocket(url);
  let over = false;
  const end = (why: string) => {
    if (!over) events.closed(why);
    over = true;
  };
  socket.onopen = () => {
    events.opened();
  };
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (over) return;
    // A character has at most three bytes in UTF-8.
    if (typeof data === "string" && data.length * 3 <= maxBytes) events.message(data);
    else if (typeof data === "string" && new TextEncoder().encode(data).length <= maxBytes) {
      events.message(data);
    } else {
      socket.close();
      end(`more than ${maxBytes} bytes`);
    }
  };
  socket.onclose = ({ code }) => {
    end(`code ${code}`);
  };
  return {
    send: (text) => {
      socket.send(text);
    },
    close: () => {
      socket.close();
    },
  };
};
