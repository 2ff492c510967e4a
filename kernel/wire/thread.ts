// The thread that speaks Jupyter, in a process of its own.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { WireData } from "../contract/bridge.js";
import { log } from "../host/host.js";
import { portOf } from "../node/port.js";
import { interruptChildren } from "./process/children.js";
import { readConnection, removeKernelFolder, Signer } from "./connection.js";
import { currentFolder, dataFolder } from "./process/folders.js";
import { MainInspector } from "./process/main-inspector.js";
import { watchParent } from "./process/parent-watch.js";
import { onInterruptSignal } from "./process/signals.js";
import { bindSockets } from "./sockets.js";
import { type Outside, WireKernel } from "./wire-kernel.js";

// Nothing can be run any more, and nobody asked: whoever started the kernel sees that it has ended.
parentPort!.once("close", () => {
  log("A cell closed the kernel's own ports: the kernel ends");
  process.kill(process.pid, "SIGKILL");
});
const data = workerData as WireData;
const connection = readConnection(data.connectionFile);
const binding = bindSockets(connection);

/** The process that this is a thread of. */
function thisProcess(): Outside {
  const inspector = new MainInspector();
  return {
    force: { terminate: () => inspector.post("Runtime.terminateExecution"), interruptChildren },
    history: dataFolder(),
    folder: currentFolder,
    onInterrupt: onInterruptSignal,
    onGone: (gone) =>
      watchParent(() => {
        removeKernelFolder(data.connectionFile);
        gone();
      }),
    close: () => inspector.close(),
    end: () => process.kill(process.pid, "SIGKILL"),
    debug: async (parts) => {
      const { DebugAdapter } = await import("./debug/adapter.js");
      return new DebugAdapter({ ...parts, inspector });
    },
  };
}

parentPort!.once(
  "message",
  ({ compiler, input }: { compiler: MessagePort; input: MessagePort }) => {
    void binding.then((sockets) => {
      const signer = new Signer(connection.key, connection.signature_scheme);
      const outside = thisProcess();
      const main = portOf(parentPort!);
      const parts = { sockets, signer, connection, outside, data, main, input };
      new WireKernel({ ...parts, compiler: portOf(compiler), handsOver: true }).start();
    });
  },
);
