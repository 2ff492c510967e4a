import type * as node from "../node/evaluate.js";

/** Named in stack traces by what the browser reads off its last line. */
export const evaluate: typeof node.evaluate = (js, filename) =>
  (0, eval)(`${js}\n//# sourceURL=${filename}`);

/** Browsers do not say where. */
export const scriptProblem: typeof node.scriptProblem = (js) => {
  try {
    // A function that is made and not called.
    new Function(js);
    return undefined;
  } catch (error) {
    return { message: (error as Error).message };
  }
};
