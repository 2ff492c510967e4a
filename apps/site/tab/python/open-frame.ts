import { frame } from "../../../../common/platform/browser/in-use.js";
import type { Ask } from "./messages.js";

/** Lets this thread start interpreters in the page's frame, by a port that leads there. */
export function openFrame(page: MessagePort): void {
  let count = 0;
  const ask = (asked: Ask<number>, ports: MessagePort[] = []) => page.postMessage(asked, ports);
  frame.open = (settings) => {
    const id = ++count;
    const { port1, port2 } = new MessageChannel();
    ask({ kind: "start", id, settings }, [port2]);
    return { port: port1, end: () => ask({ kind: "end", id }) };
  };
}
