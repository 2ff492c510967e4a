import type * as node from "../node/strays.js";

/** A tab's page says what becomes of them. */
export const hearStrays: typeof node.hearStrays = () => undefined;

export const dieOf: typeof node.dieOf = (error) => {
  throw error;
};
