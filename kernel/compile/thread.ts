// The thread that compiles.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { CompilerCall } from "../contract/compiler-client.js";
import type { CompilerOptions } from "../contract/compiler.js";
import { CompilerService } from "./serve.js";

const service = new CompilerService(
  import("./compiler.js").then((m) => m.createCellCompiler(workerData as CompilerOptions)),
  parentPort!,
);

function listen(port: MessagePort): void {
  port.on("message", (message: CompilerCall | { requests: MessagePort }) => {
    // The wire thread has a port of its own; the main thread, which asks for modules, uses ours.
    if ("requests" in message) listen(message.requests);
    else service.call(port, message);
  });
}
listen(parentPort!);
