import { checkOptions } from "../../../common/options/check-options.js";
import { calculate } from "./arithmetic.js";
import type { Tool } from "../tool.js";

/**
 * A calculator: exact whole numbers and fractions, decimals where a function needs them. It parses
 * arithmetic and nothing else, so no input can reach anything outside it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tools = new ToolSet([calculator()]);
 * assert.equal((await tools.call("calc", "(2^100 - 1) // 3")).text, "422550200076076467165567735125");
 * assert.equal((await tools.call("calc", "1/3 + 1/6")).text, "0.5");
 * assert.equal((await tools.call("calc", "1/0")).text, "Error: division by zero");
 * ```
 */
export function calculator(
  options: {
    /** The tag the model calls it by. Default: `calc`. */
    tag?: string;
  } = {},
): Tool {
  checkOptions("make a calculator", options, { tag: "text?" });
  return {
    name: "calculator",
    tag: options.tag ?? "calc",
    description:
      "Evaluates arithmetic: + - * / // % ^, brackets, and functions such as sqrt, log, gcd, max, factorial.",
    execute: (input) => {
      try {
        return calculate(input);
      } catch (error) {
        // What the model wrote is wrong, not the tool: the reason is its answer.
        if (error instanceof SyntaxError || error instanceof RangeError) {
          return `Error: ${error.message}`;
        }
        throw error;
      }
    },
  };
}
