export { guardProcess, type GuardOptions } from "./guard-process.js";
export { expectUserCode, running, unsettled } from "./running.js";
export { UnhandledErrors } from "./unhandled-errors.js";
