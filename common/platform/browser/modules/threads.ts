import type * as node from "../../node/modules/threads.js";
import { basename } from "../path.js";
import { starter } from "./starter-in-use.js";

/** All scripts of a tab are in one folder: a thread's is beside the one that starts it. */
export const startThread: typeof node.startThread = (script, data) => {
  const name = basename(script);
  if (starter.port) return starter.port.postMessage({ name, data });
  new Worker(new URL(name, import.meta.url), { type: "module" }).postMessage(data);
};

/** The first message. Asked for before anything is awaited, or the message is gone. */
export const threadData: typeof node.threadData = () =>
  new Promise((resolve) => {
    addEventListener("message", (event: MessageEvent<unknown>) => resolve(event.data), {
      once: true,
    });
  });
