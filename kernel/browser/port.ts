import type { Port } from "../contract/port.js";

/** A tab's port or worker as a way to another thread. */
export function tabPort(end: MessagePort | Worker): Port {
  return {
    postMessage: (message) => end.postMessage(message),
    onMessage: (heard) => {
      const hear = heard as (message: unknown) => void;
      end.addEventListener("message", (event) => hear((event as MessageEvent<unknown>).data));
      if (end instanceof MessagePort) end.start();
    },
    onError: (failed) =>
      end.addEventListener("error", (event) =>
        failed(new Error((event as ErrorEvent).message ?? "the thread failed")),
      ),
    // Nobody tells: whoever ends a thread of a tab ends those that speak with it too.
    onGone: () => undefined,
  };
}
