import { calc } from "./calc.js";
import { lookup } from "./lookup.js";
import { mixed } from "./mixed.js";
import { multihop } from "./multihop.js";

/**
 * The task generators: families with difficulty dials, in which a tool is truly needed.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tasks } from "arpo-lab/run";
 *
 * assert.deepEqual(Object.keys(tasks), ["calc", "lookup", "multihop", "mixed"]);
 * const { train, test, tools } = tasks.calc({ train: 4, test: 2, digits: 1 });
 * assert.deepEqual([train.length, test.length, tools], [4, 2, ["python"]]);
 * ```
 */
export const tasks = { calc, lookup, multihop, mixed };
