// One Pyodide in a worker of the frame without origin: no process and no permission model stand around it,
// but a policy that lets nothing in or out, and that workers begun from a blob have too.
import createPyodideModule from "pyodide/pyodide.asm.mjs";
import { loadPyodide } from "pyodide";
import { startInterpreter } from "../../src/tools/python/interpreter.js";
import { language } from "./language.js";
import type { FromWorker, ToWorker, WorkerStart } from "./messages.js";
import { sameBytes } from "./same-bytes.js";
import { useUtc } from "./utc.js";
import { checkSandbox } from "./check-sandbox.js";

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
    try {
      const reply = interpreter.answer(data);
      send(reply);
      if (reply.retiring) close();
      else interpreter.restore();
    } catch (error) {
      // The interpreter itself broke (a stack overflow in C, a trap): this worker is done for.
      send({ id: -1, fatal: String(error) });
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
