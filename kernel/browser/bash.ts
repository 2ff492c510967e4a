import type * as node from "../node/bash.js";

export const runBash: typeof node.runBash = () =>
  Promise.reject(new Error("Cannot run %%bash: a browser tab starts no programs"));
