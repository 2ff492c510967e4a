// The program of the frame without origin: it starts a worker for each interpreter, and ends it.
import type { FromWorker, ToFrame, WorkerStart } from "./messages.js";

type Start = Extract<ToFrame, { kind: "start" }>;

const workers = new Map<string, Worker>();
let made: { script: string; wasm: Promise<WebAssembly.Module>; library: ArrayBuffer; lock: string };
let packages: ArrayBuffer | undefined;

function start({ id, settings }: Start, port: MessagePort): void {
  const { script, library, lock } = made;
  const worker = new Worker(script);
  workers.set(id, worker);
  const failed = (why: string) =>
    port.postMessage({ id: -1, fatal: why || "its script did not start" } satisfies FromWorker);
  worker.onerror = ({ message }) => failed(message);
  // Its first word: from then on the port is its own.
  worker.onmessage = () => {
    worker.onmessage = null;
    made.wasm
      .then((wasm) => {
        const first: WorkerStart = { wasm, library, lock, settings };
        if (settings.preload !== undefined) first.packages = packages;
        worker.postMessage(first, [port]);
      })
      .catch((error: unknown) => failed(String(error)));
  };
}

addEventListener(
  "message",
  ({ ports: [page] }) => {
    page!.onmessage = ({ data, ports: [port] }: MessageEvent<ToFrame>) => {
      if (data.kind === "assets") {
        const { script, wasm, ...rest } = data.assets;
        const file = new Blob([script], { type: "text/javascript" });
        made = { ...rest, script: URL.createObjectURL(file), wasm: WebAssembly.compile(wasm) };
      } else if (data.kind === "packages") packages = data.packages;
      else if (data.kind === "start") start(data, port!);
      else {
        workers.get(data.id)?.terminate();
        workers.delete(data.id);
      }
    };
  },
  { once: true },
);
