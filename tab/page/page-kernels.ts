import type { KernelParts } from "../kernel/thread-data.js";
import type { PythonFrame } from "./python-frame.js";

/**
 * What a page does for its kernels: it has their threads and their interpreters of Python. Threads too, since
 * in Firefox (153) one that starts others stands still now and then, where a page of the lab was just left.
 */
export class PageKernels {
  readonly #scripts: string;
  readonly #python: PythonFrame;
  readonly #threads = new Map<number, Worker[]>();

  /** Scripts of threads lie below `scripts`. */
  constructor(scripts: string, python: PythonFrame) {
    this.#scripts = scripts;
    this.#python = python;
  }

  add(kernel: number, { threads, python, more, failed }: KernelParts): void {
    const started: Worker[] = [];
    const start = (name: string, data: unknown, ports: MessagePort[] = []): void => {
      const worker = new Worker(new URL(name, this.#scripts), { type: "module", name });
      worker.addEventListener("error", (event) => {
        // One that could not be loaded says nothing else; what a cell throws does not come here.
        if (!event.filename) failed.postMessage(name);
      });
      worker.postMessage(data, ports);
      started.push(worker);
    };
    for (const { name, data, ports } of threads) start(name, data, ports);
    more.onmessage = ({ data }: MessageEvent<{ name: string; data: unknown }>) =>
      start(data.name, data.data);
    this.#threads.set(kernel, started);
    this.#python.add(kernel, python);
  }

  remove(kernel: number): void {
    for (const worker of this.#threads.get(kernel) ?? []) worker.terminate();
    this.#threads.delete(kernel);
    this.#python.remove(kernel);
  }
}
