import type * as node from "../../node/process/turns.js";

/** A message to oneself: timers are held back to 4 ms, and in hidden tabs to a second. */
export const yieldToEventLoop: typeof node.yieldToEventLoop = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });

export const soon: typeof node.soon = (call) => void yieldToEventLoop().then(call);

export const later: typeof node.later = (call, ms) => setTimeout(call, ms);

export const wait: typeof node.wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(
        Object.assign(new DOMException("The operation was aborted", "AbortError"), {
          cause: signal?.reason,
        }),
      );
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
