import type * as node from "../node/evaluate.js";

/** Named in stack traces by what the browser reads off its last line. */
export const evaluate: typeof node.evaluate = (js, filename) =>
  (0, eval)(`${js}\n//# sourceURL=${filename}`);
