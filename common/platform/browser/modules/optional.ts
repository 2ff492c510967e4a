import type * as node from "../../node/modules/optional.js";

export const addonInterface: typeof node.addonInterface = 0;

/** Nothing can be installed beside a bundle. */
export const resolvePackage: typeof node.resolvePackage = () => undefined;

export const requirePackage: typeof node.requirePackage = (name) => {
  throw new Error(`Cannot load ${name}: a browser tab has no packages beside its own`);
};
