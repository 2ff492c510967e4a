// The benchmark page: trains two small models in this tab, on every backend that the browser has, and gives the
// figures as a table and as JSON to send in. `?seconds=N` is how long each model trains (3).
import { hasRelaxedSimd } from "../../../src/tensor/engine/wasm-builds.js";
import type { TrainingFigure } from "./measure-training.js";
import type { Asked } from "./worker.js";

type Answer = { figure: TrainingFigure } | { done: true } | { error: string };

const at = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const start = at<HTMLButtonElement>("start");
const copy = at<HTMLButtonElement>("copy");
const status = at("status");
const rows = at("rows");
const result = at<HTMLTextAreaElement>("result");

const asked = Number(new URLSearchParams(location.search).get("seconds") ?? 3);
const seconds = asked > 0 && asked <= 60 ? asked : 3;

/** The figures of one backend, in a worker of its own. */
function measure(backend: Asked["backend"], note: (figure: TrainingFigure) => void): Promise<void> {
  const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  const base = new URL("package/", document.baseURI).href;
  return new Promise<void>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if ("figure" in data) note(data.figure);
      else if ("error" in data) reject(new Error(data.error));
      else resolve();
    };
    worker.onerror = ({ message }) => reject(new Error(message || "the worker did not start"));
    worker.postMessage({ backend, base, seconds } satisfies Asked);
  }).finally(() => worker.terminate());
}

function show({ size, backend, on, tokensPerSecond, milliseconds, share }: TrainingFigure): void {
  const row = document.createElement("tr");
  const numbers = [tokensPerSecond.toFixed(0), milliseconds.toFixed(1), share.toFixed(2)];
  for (const text of [size, backend, on, ...numbers]) {
    row.insertCell().textContent = text;
  }
  rows.append(row);
}

async function run(): Promise<void> {
  start.disabled = true;
  rows.replaceChildren();
  const figures: TrainingFigure[] = [];
  const leftOut: { backend: string; reason: string }[] = [];
  const backends = {
    wasm: true,
    "wasm-relaxed": hasRelaxedSimd() || "this browser has no relaxed SIMD",
    webgpu: "gpu" in navigator || "this browser gives this page no WebGPU",
  };
  for (const backend of Object.keys(backends) as Asked["backend"][]) {
    const here = backends[backend];
    status.textContent = `${backend} trains …`;
    try {
      if (here !== true) throw new Error(String(here));
      await measure(backend, (figure) => {
        figures.push(figure);
        show(figure);
      });
    } catch (error) {
      leftOut.push({ backend, reason: (error as Error).message });
    }
  }
  const whole = {
    ...{ benchmark: "arpo-lab training in a tab", date: new Date().toISOString(), seconds },
    ...{ browser: navigator.userAgent, cores: navigator.hardwareConcurrency },
    ...{ threads: crossOriginIsolated, figures, leftOut },
  };
  result.value = JSON.stringify(whole, null, 1);
  result.hidden = false;
  copy.disabled = false;
  start.disabled = false;
  const missing = leftOut.map(({ backend, reason }) => `${backend} is left out: ${reason}.`);
  status.textContent = ["Done.", ...missing].join(" ");
}

start.onclick = () => void run();
copy.onclick = () => {
  result.select();
  void navigator.clipboard.writeText(result.value).then(
    () => (status.textContent = "Copied."),
    () => (status.textContent = "The browser does not let this page copy: copy the selected text."),
  );
};
document.body.dataset.ready = "";
