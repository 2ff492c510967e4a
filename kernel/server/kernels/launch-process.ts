import { KernelProcess } from "../../client/kernel-process.js";
import { KernelConnection } from "./connection.js";
import type { Launch } from "./launched.js";

/** A kernel as a process of its own, reached by its sockets. */
export const launchProcess: Launch = async (spec, folder, receive) => {
  const kernel = await KernelProcess.start(spec, folder);
  const connection = new KernelConnection(kernel, receive);
  return {
    get alive() {
      return kernel.alive;
    },
    ended: kernel.ended,
    signal: (name) => kernel.signal(name),
    send: (frames) => connection.send(frames),
    ask: (channel, type, content) => connection.ask(channel, type, content),
    close: () => connection.close(),
  };
};
