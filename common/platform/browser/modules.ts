import type * as node from "../node/modules.js";
import { frame, starter } from "./in-use.js";
import { basename } from "./path.js";

/** Where the package's files are put into the tree of files of a tab. */
export const packagePath: typeof node.packagePath = (name) => `/lab/${name}`;

/** All scripts of a tab are in one folder: a thread's is beside the one that starts it. */
export const startThread: typeof node.startThread = (script, data) => {
  const name = basename(script);
  if (starter.port) return starter.port.postMessage({ name, data });
  new Worker(new URL(name, import.meta.url), { type: "module" }).postMessage(data);
};

/** The first message. Asked for before anything is awaited, or the message is gone. */
export const threadData: typeof node.threadData = () =>
  new Promise((resolve) => {
    addEventListener("message", (event: MessageEvent<unknown>) => resolve(event.data), {
      once: true,
    });
  });

export const addonInterface: typeof node.addonInterface = 0;

/** Nothing can be installed beside a bundle. */
export const resolvePackage: typeof node.resolvePackage = () => undefined;

export const requirePackage: typeof node.requirePackage = (name) => {
  throw new Error(`Cannot load ${name}: a browser tab has no packages beside its own`);
};

export const openGpu: typeof node.openGpu = () =>
  navigator.gpu
    ? Promise.resolve(navigator.gpu)
    : Promise.reject(new Error("this browser must have WebGPU, got none"));

export const agent: typeof node.agent = () => navigator.userAgent;

export const loadResvg: typeof node.loadResvg = () =>
  Promise.reject(
    new Error("Cannot make a PNG or PDF: a browser tab saves figures as .svg, .html or .json only"),
  );

export const pythonFrame: (settings: node.FrameSettings) => node.FramedPython = (settings) => {
  if (frame.open === undefined) {
    throw new Error("Cannot start Python: this page has no frame for it");
  }
  return frame.open(settings);
};
