import { startInterpreter } from "../../../../src/tools/python/interpreter.js";
import type { FromWorker, ToWorker, WorkerStart } from "./messages.js";
import { sameBytes } from "./same-bytes.js";
import { loadPyodide } from "pyodide";
import createPyodideModule from "pyodide/pyodide.asm.mjs";

/** Globals that ECMAScript defines, as far as engines have them; a worker's other globals are taken away. */
const language: ReadonlySet<string> = new Set(
  (
    "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent " +
    "encodeURI encodeURIComponent escape unescape Object Function Boolean Symbol Error AggregateError " +
    "EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError Number BigInt Math Date " +
    "String RegExp Array Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array " +
    "BigInt64Array BigUint64Array Float16Array Float32Array Float64Array Map Set WeakMap WeakSet WeakRef " +
    "FinalizationRegistry ArrayBuffer SharedArrayBuffer DataView Atomics JSON Promise Proxy Reflect Iterator " +
    "Intl WebAssembly DisposableStack AsyncDisposableStack Temporal"
  ).split(" "),
);

/** Makes the clock of this thread Greenwich's, wherever the reader is: Python's processes have it, too. */
function useUtc(): void {
  const dates = Date.prototype as unknown as Record<string, unknown>;
  const parts = ["Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds"];
  for (const part of parts) dates[`get${part}`] = dates[`getUTC${part}`];
  dates["getTimezoneOffset"] = () => 0;
  globalThis.Date = new Proxy(Date, {
    construct: (target, values: unknown[]) =>
      values.length < 2
        ? (Reflect.construct(target, values) as Date)
        : new target(target.UTC(...(values as Parameters<typeof Date.UTC>))),
  });
}

// Not written where it is imported: a bundler would put it in.
const dataScript = ["data:text/javascript", ""].join(",");

/** Ways out that the policy of the frame must have closed, by what tries them. */
const ways: Record<string, () => unknown> = {
  "code from strings": () => (0, eval)("1"),
  "a function from strings": () => new Function("return 1")(),
  connections: () => fetch("data:text/plain,x"),
  "scripts of others": () => import(dataScript),
  "the origin's databases": () =>
    new Promise((resolve, reject) => {
      const asked = indexedDB.open("x");
      asked.onsuccess = resolve;
      asked.onerror = () => reject(new Error("refused"));
    }),
  "the origin's caches": () => caches.open("x"),
  "the origin's files": () => navigator.storage.getDirectory(),
};

/** WebKit has caches even where there is no origin to keep them for: nobody here may ask for them. */
function withoutCaches(): void {
  for (
    let owner: object | null = self;
    owner !== null;
    owner = Object.getPrototypeOf(owner) as object
  )
    Reflect.deleteProperty(owner, "caches");
}

/** Throws unless every wall stands: an interpreter that could reach out is not started. */
async function checkSandbox(): Promise<void> {
  if (self.origin !== "null") {
    throw new Error(`Cannot start Python: its frame must have no origin, got ${self.origin}`);
  }
  withoutCaches();
  for (const [name, reach] of Object.entries(ways)) {
    let reached = true;
    try {
      await reach();
    } catch {
      reached = false;
    }
    if (reached) throw new Error(`Cannot start Python: its frame must be closed, got ${name}`);
  }
}

// One Pyodide in a worker of the frame without origin: no process and no permission model stand around it,
// but a policy that lets nothing in or out, and that workers begun from a blob have too.

const own = self as unknown as { close: () => void };
const close = own.close.bind(own);

async function start(given: WorkerStart, send: (message: FromWorker) => void, port: MessagePort) {
  await checkSandbox();
  const { wasm, library, lock, packages, settings } = given;
  // Pyodide would fetch its parts: they are here already.
  globalThis.fetch = (to) =>
    Promise.resolve(new Response(String(to).endsWith(".zip") ? library : null));
  WebAssembly.instantiateStreaming = async (_, imports) => ({
    module: wasm,
    instance: await WebAssembly.instantiate(wasm, imports),
  });
  useUtc();
  const interpreter = await startInterpreter({
    load: (options) =>
      loadPyodide({
        ...options,
        ...{ indexURL: "https://none.invalid/", lockFileContents: lock, createPyodideModule },
      } as Parameters<typeof loadPyodide>[0]),
    ...(packages ? { packages: new Uint8Array(packages) } : {}),
    ...settings,
    ...{ language, sameBytes },
  });
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    let isIdle = false;
    try {
      const reply = interpreter.answer(data);
      send(reply);
      isIdle = true;
      if (reply.retiring) close();
      else interpreter.restore();
    } catch (error) {
      // The interpreter itself broke (a stack overflow in C, a trap): this worker is done for.
      send({ id: -1, fatal: String(error), isIdle });
      close();
    }
  };
  send({ ready: true, version: "" });
}

addEventListener(
  "message",
  ({ data, ports: [port] }: MessageEvent<WorkerStart>) => {
    const send = port!.postMessage.bind(port) as (message: FromWorker) => void;
    start(data, send, port!).catch((error: unknown) => {
      send({ id: -1, fatal: error instanceof Error ? error.message : String(error) });
      close();
    });
  },
  { once: true },
);
postMessage("here");
