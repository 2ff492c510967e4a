// Node's own inspector, taken out of Node: a cell prints the same in a tab.
import { inspect as extracted } from "node-inspect-extracted";
import type * as node from "../node/inspect.js";

export const inspect: typeof node.inspect = extracted;

/** Nobody can tell, and that is what proxies are for. */
export const isProxy: typeof node.isProxy = () => false;
export const isPromise: typeof node.isPromise = (value) => value instanceof Promise;
export const isModuleNamespace: typeof node.isModuleNamespace = (value) =>
  Object.prototype.toString.call(value) === "[object Module]";
/** There are none here. */
export const isBuffer: typeof node.isBuffer = () => false;
