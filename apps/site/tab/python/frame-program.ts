// The program of the frame without origin: it starts a worker for each interpreter, and ends it.
import type { FromWorker, ToFrame, WorkerStart } from "./messages.js";

type Start = Extract<ToFrame, { kind: "start" }>;

const workers = new Map<string, Worker>();
let made: {
  script: { text: string; blob: string };
  wasm: Promise<WebAssembly.Module>;
  library: ArrayBuffer;
  lock: string;
};
let packages: ArrayBuffer | undefined;
/** WebKit begins no worker of a blob where the page is isolated and the frame has no origin, and says no word. */
let blobsWork = true;

const dataAddress = (script: string): string =>
  `data:text/javascript;charset=utf-8,${encodeURIComponent(script)}`;

function start({ id, settings }: Start, port: MessagePort): void {
  const { script, library, lock } = made;
  const worker = new Worker(blobsWork ? script.blob : dataAddress(script.text));
  workers.set(id, worker);
  const failed = (why: string) =>
    port.postMessage({ id: -1, fatal: why || "its script did not start" } satisfies FromWorker);
  worker.onerror = ({ message }) => {
    if (message || !blobsWork || workers.get(id) !== worker) return failed(message);
    blobsWork = false;
    start({ kind: "start", id, settings }, port);
  };
  // Its first word: from then on the port is its own.
  worker.onmessage = () => {
    worker.onmessage = null;
    worker.onerror = ({ message }) => failed(message);
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
        const own = { text: script, blob: URL.createObjectURL(file) };
        made = { ...rest, script: own, wasm: WebAssembly.compile(wasm) };
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
