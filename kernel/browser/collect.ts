import type * as node from "../node/collect.js";

/** A browser collects when it likes. */
export const collectGarbage: typeof node.collectGarbage = () => undefined;
