import { askKernel } from "../../page/ask-kernel.js";
import { element } from "../../page/element.js";
import type { StatusReply, WorkStatus } from "../payload.js";

/** The line of progress of work that goes on, and a button that ends it where a kernel hears. */
export function statusBar(
  { line, after, key, target }: WorkStatus,
  told: (reply: StatusReply) => void = () => undefined,
): HTMLElement {
  const now = element("span", { "data-line": "", role: "status" }, line);
  const bar = element("div", { class: "arpo-bar" }, now);
  const connect = () =>
    askKernel<StatusReply>(bar, target, (channel) => {
      const title = `End it after ${after}`;
      const stop = element("button", { type: "button", title }, "Stop");
      stop.onclick = () => channel.send({ run: key, stop: true });
      channel.onMessage = (reply) => {
        now.textContent = reply.line;
        stop.disabled = reply.stopping;
        if (reply.stopping) stop.textContent = `stopping after ${after}`;
        told(reply);
      };
      channel.onClose = () => stop.remove();
      bar.append(stop);
      channel.send({ run: key });
    });
  // It asks through the page, of which it is a part only later.
  queueMicrotask(connect);
  return bar;
}
