// The thread that compiles: one request at a time, in the order they come.
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { CellCompiler, CompilerOptions } from "../contract/compiler.js";
import { log } from "../host/log.js";
import type { CompilerCall } from "../contract/compiler-client.js";

const compiler = import("./compiler.js").then((m) =>
  m.createCellCompiler(workerData as CompilerOptions),
);
let turn: Promise<unknown> = Promise.resolve();

async function answer(port: MessagePort, { call, method, args }: CompilerCall): Promise<void> {
  try {
    const target = (await compiler) as CellCompiler &
      Record<string, (...args: unknown[]) => unknown>;
    const value = await (target[method] as ((...a: unknown[]) => unknown) | undefined)?.apply(
      target,
      args,
    );
    if (call !== 0) port.postMessage({ call, value });
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (call !== 0) port.postMessage({ call, error: text });
    else log(`The compiler failed in ${method}: ${text}`);
  }
}

function listen(port: MessagePort): void {
  port.on("message", (message: CompilerCall | { requests: MessagePort }) => {
    // The wire thread has a port of its own; the main thread, which asks for modules, uses ours.
    if ("requests" in message) listen(message.requests);
    else turn = turn.then(() => answer(port, message));
  });
}
listen(parentPort!);
