import type * as node from "../../node/process/cores.js";

/**
 * Only a page with the isolation headers may hand its memory to a thread; and some builds of WebKit have no
 * shared memory even then.
 */
export const sharesMemory: typeof node.sharesMemory = () =>
  globalThis.crossOriginIsolated && typeof SharedArrayBuffer === "function";

export const cores: typeof node.cores = () => (sharesMemory() ? navigator.hardwareConcurrency : 1);
