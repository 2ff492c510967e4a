import type * as node from "../node/cores.js";

/** One where memory cannot be shared: a page without the isolation headers has no threads. */
export const cores: typeof node.cores = () =>
  globalThis.crossOriginIsolated ? navigator.hardwareConcurrency : 1;
