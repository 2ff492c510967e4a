import type * as node from "../node/cores.js";

/** Only a page with the isolation headers may hand its memory to a thread. */
export const sharesMemory: typeof node.sharesMemory = () => globalThis.crossOriginIsolated;

export const cores: typeof node.cores = () => (sharesMemory() ? navigator.hardwareConcurrency : 1);
