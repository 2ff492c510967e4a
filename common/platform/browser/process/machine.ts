import { here } from "./folder-in-use.js";
import type * as node from "../../node/process/machine.js";

export const system: typeof node.system = "tab";

export const homedir: typeof node.homedir = () => "/home";

export const hostname: typeof node.hostname = () => "tab";

/** Another one after every reload: what an earlier visit left behind is nobody's any more. */
export const processId: typeof node.processId = crypto.getRandomValues(new Uint32Array(1))[0]!;

export const isRunning: typeof node.isRunning = (pid) => pid === processId;

export const processors: typeof node.processors = () =>
  `${navigator.userAgent} x${navigator.hardwareConcurrency}`;

export const architecture: typeof node.architecture = "wasm32";

export const isRoot: typeof node.isRoot = () => false;

const [, name = "a browser", version = "0"] =
  /(Firefox|Chrome|Version)\/([\d.]+)/.exec(globalThis.navigator?.userAgent ?? "") ?? [];
export const runtime: typeof node.runtime = { name: name === "Version" ? "Safari" : name, version };

export const currentFolder: typeof node.currentFolder = () => here.folder;
export const ownCpuSeconds: typeof node.ownCpuSeconds = () => undefined;
export const cpuSeconds: typeof node.cpuSeconds = () => undefined;
