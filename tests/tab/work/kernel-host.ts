// What a page has around a kernel, for tests: the thread of its server, and Python's frame.
import { openSandboxFrame, PythonFrame } from "../../../apps/site/tab/page/python-frame.js";
import { PageKernels } from "../../../apps/site/tab/page/start.js";
import type { KernelParts } from "../../../apps/site/tab/kernel/thread-data.js";
import type { ToFrame } from "../../../apps/site/tab/python/messages.js";

/** Starts a kernel; gives the thread that takes what a front end sends. */
export function host(base: string, threads: string, said: (message: unknown) => void): Worker {
  const kernels = new PageKernels(base, new PythonFrame(base));
  const worker = new Worker(`${base}kernel-page.js`, { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<{ parts?: KernelParts }>) => {
    if (data.parts === undefined) said(data);
    else kernels.add(1, data.parts);
  };
  worker.postMessage({ base, threads });
  return worker;
}

interface Attempts {
  origin: string;
  tried: number;
  reached: string[];
}

/** Starts attempts-worker in a frame as Python's would be, and gives what it reached. */
export async function attempts(base: string, url: string): Promise<Attempts> {
  const text = async (name: string) => (await fetch(`${base}${name}`)).text();
  const bytes = async (name: string) => (await fetch(`${base}${name}`)).arrayBuffer();
  const frame = await openSandboxFrame(await text("scripts/python-frame.js"));
  const assets = {
    script: await text("scripts/attempts-worker.js"),
    wasm: await bytes("python/pyodide.asm.wasm"),
    library: new ArrayBuffer(),
    lock: "",
  };
  frame.postMessage({ kind: "assets", assets } satisfies ToFrame);
  const { port1, port2 } = new MessageChannel();
  const start: ToFrame = { kind: "start", id: "attempts", settings: { memoryBytes: 1 } };
  frame.postMessage(start, [port2]);
  const said = new Promise<Attempts>((done) => {
    port1.onmessage = ({ data }: MessageEvent<Attempts>) => done(data);
  });
  port1.postMessage(url);
  return await said;
}
