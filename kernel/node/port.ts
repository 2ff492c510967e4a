import { MessagePort, type Worker } from "node:worker_threads";
import type { Port } from "../contract/port.js";

/** A port or a worker of Node's as a way to another thread. */
export function portOf(end: MessagePort | Worker): Port {
  return {
    postMessage: (message) => end.postMessage(message),
    onMessage: (heard) => void end.on("message", heard as (message: unknown) => void),
    onError: (failed) => void (end as Worker).on("error", failed),
    // A port closes when the thread at its other end is gone.
    onGone: (gone) => {
      if (end instanceof MessagePort) end.once("close", gone);
      else end.once("exit", gone);
    },
  };
}
