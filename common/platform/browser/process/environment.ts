import type * as node from "../../node/process/environment.js";

/** None, until whoever opens the lab puts some in: a tab inherits no environment. */
export const environment: typeof node.environment & Record<string, string | undefined> = {};
