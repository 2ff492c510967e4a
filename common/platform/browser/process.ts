import type * as node from "../node/process.js";
import { here } from "./in-use.js";

/** None, until whoever opens the lab puts some in: a tab inherits no environment. */
export const environment: typeof node.environment & Record<string, string | undefined> = {};

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

/**
 * Only a page with the isolation headers may hand its memory to a thread; and some builds of WebKit have no
 * shared memory even then.
 */
export const sharesMemory: typeof node.sharesMemory = () =>
  globalThis.crossOriginIsolated && typeof SharedArrayBuffer === "function";

export const cores: typeof node.cores = () => (sharesMemory() ? navigator.hardwareConcurrency : 1);

/** Known until the call first waits: a tab tells nobody what came after. */
export const makeContext: typeof node.makeContext = <T>() => {
  const values: T[] = [];
  return {
    run<R>(value: T, call: () => R): R {
      values.push(value);
      try {
        return call();
      } finally {
        values.pop();
      }
    },
    getStore: () => values.at(-1),
  };
};

/** A message to oneself: timers are held back to 4 ms, and in hidden tabs to a second. */
export const yieldToEventLoop: typeof node.yieldToEventLoop = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });

export const soon: typeof node.soon = (call) => void yieldToEventLoop().then(call);

export const later: typeof node.later = (call, ms) => setTimeout(call, ms);

export const wait: typeof node.wait = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(
        Object.assign(new DOMException("The operation was aborted", "AbortError"), {
          cause: signal?.reason,
        }),
      );
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });

/** A tab's signals never complain. */
export const expectManyListeners: typeof node.expectManyListeners = () => undefined;

const refuse = (file: string): never => {
  throw new Error(`Cannot start ${file}: a browser tab starts no programs`);
};
export const spawn: typeof node.spawn = refuse;
export const spawnSync: typeof node.spawnSync = refuse;
export const ownProgram: typeof node.ownProgram = "tab";
export const knowsFlag: typeof node.knowsFlag = () => false;
export const endGroup: typeof node.endGroup = () => undefined;

export const askTerminal: typeof node.askTerminal = () =>
  Promise.reject(new Error("Cannot ask: only a cell can in a browser tab"));

/** A tab's page says what becomes of them. */
export const onUnhandledErrors: typeof node.onUnhandledErrors = () => undefined;

export const exitWith: typeof node.exitWith = (error) => {
  throw error;
};
