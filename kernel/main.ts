// The kernel's process: node main.js CONNECTION_FILE [typescript|javascript].
//
// Three threads. This one, the main thread, runs cells, because only it can chdir, load every native
// addon and be the target of the inspector's terminateExecution. Sockets have a thread of their own
// (wire), so heartbeat, interrupt and output go on while a cell computes. TypeScript has the third,
// so completion does too, and its loading time overlaps with that of the sockets.
import "./node/quiet-warning.js";
import { MessageChannel, Worker } from "node:worker_threads";
import { type WireData, WORDS, WORDS_BYTES } from "./contract/bridge.js";
import { restoreArenas } from "./node/arenas.js";

const [connectionFile, language = "typescript"] = process.argv.slice(2);
if (connectionFile === undefined || (language !== "typescript" && language !== "javascript")) {
  throw new TypeError(
    `Cannot start the kernel: use main.js CONNECTION_FILE [typescript|javascript], got ${process.argv.slice(2).join(" ")}`,
  );
}
restoreArenas(process.env);
const words = new SharedArrayBuffer(WORDS_BYTES);
const shared = new Int32Array(words);
shared[WORDS.loading] = 1; // until this thread listens
const compilerPorts = new MessageChannel();
const inputPorts = new MessageChannel();
const folder = process.cwd();

const wire = new Worker(new URL("./wire/thread.js", import.meta.url), {
  workerData: { connectionFile, language, words, folder } satisfies WireData,
  name: "wire",
  execArgv: ["--expose-internals", "--no-warnings"], // see wire/process/signals.ts
  // What a message leaves is gone when it has been sent; V8's own choice grows to 12 MB more.
  resourceLimits: { maxYoungGenerationSizeMb: 3 },
});
wire.postMessage({ compiler: compilerPorts.port1, input: inputPorts.port1 }, [
  compilerPorts.port1,
  inputPorts.port1,
]);
const compiler = new Worker(new URL("./compile/thread.js", import.meta.url), {
  workerData: { language, folder },
  name: "compiler",
  // Most of what a compilation makes is gone when it ends; room for more of it is 30 MB for nothing. And
  // V8 lets a heap grow the further, relative to what is in use, the further it may grow at all.
  resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 1024 },
});
compiler.postMessage({ requests: compilerPorts.port2 }, [compilerPorts.port2]);

const { portOf } = await import("./node/port.js");
const { hideOwnHandles } = await import("./node/own-handles.js");
const { startMain } = await import("./run/start.js");
startMain({
  wire: portOf(wire),
  compiler: portOf(compiler),
  words: shared,
  inputPort: inputPorts.port2,
});
hideOwnHandles(inputPorts.port2);
Atomics.sub(shared, WORDS.loading, 1);
