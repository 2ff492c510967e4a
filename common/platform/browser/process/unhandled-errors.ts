import type * as node from "../../node/process/unhandled-errors.js";

/** A tab's page says what becomes of them. */
export const onUnhandledErrors: typeof node.onUnhandledErrors = () => undefined;

export const exitWith: typeof node.exitWith = (error) => {
  throw error;
};
