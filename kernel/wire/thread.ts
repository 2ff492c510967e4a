// The thread that speaks Jupyter.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { WireData } from "../contract/bridge.js";
import { readConnection } from "./connection.js";
import { WireKernel } from "./wire-kernel.js";
import { bindSockets } from "./sockets.js";

const data = workerData as WireData;
const connection = readConnection(data.connectionFile);
const binding = bindSockets(connection);

parentPort!.once(
  "message",
  ({ compiler, input }: { compiler: MessagePort; input: MessagePort }) => {
    void binding.then((sockets) => {
      const kernel = new WireKernel({
        sockets,
        connection,
        data,
        main: parentPort!,
        compiler,
        input,
      });
      kernel.start();
    });
  },
);
