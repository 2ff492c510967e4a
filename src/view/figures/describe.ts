import { checkArguments } from "../../arguments/check-arguments.js";
import type { Figure } from "./figure.js";

/**
 * What a figure shows, in words: for readers who do not see it, and for logs.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { describe, passAtKCurve } from "arpo-lab/view";
 *
 * const figure = passAtKCurve({ tiny: [{ n: 2, correct: 1 }] });
 * assert.equal(describe(figure), "pass@k over 1 task: tiny rises from 0.5 at k = 1 to 1 at k = 2.");
 * ```
 */
export function describe(figure: Figure): string {
  checkArguments("describe a figure", { figure }, { figure: { data: "list", layout: "object" } });
  return figure.layout.meta.description;
}
