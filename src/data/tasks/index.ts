import { calc } from "./calc.js";
import { lookup } from "./lookup.js";
import { mixed } from "./mixed.js";
import { multihop } from "./multihop.js";

/** The task generators: families with difficulty dials, in which a tool is truly needed. */
export const tasks = { calc, lookup, multihop, mixed };
