import type * as node from "../../node/process/many-listeners.js";

/** A tab's signals never complain. */
export const expectManyListeners: typeof node.expectManyListeners = () => undefined;
