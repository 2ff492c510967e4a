// Modules that a bundle brings: a tab has no others, besides those at whole addresses.
import type * as node from "../node/own-module.js";

type Namespace = node.Namespace;

const connected: Record<string, () => Promise<Namespace>> = {
  "arpo-lab/kernel": () => import("../cells.js"),
  tslab: () => import("../display/tslab.js"),
};
const bundled = new Map<string, () => Promise<Namespace>>();

/** Makes modules importable under these names. */
export function offerModules(modules: Record<string, () => Promise<Namespace>>): void {
  for (const [name, load] of Object.entries(modules)) bundled.set(name, load);
}

/** What the bundle has under a name. */
export function bundledModule(specifier: string): Promise<Namespace> | undefined {
  return bundled.get(specifier)?.();
}

export const ownModule: typeof node.ownModule = (specifier) => connected[specifier]?.();

export const requireOwn: typeof node.requireOwn = () => undefined;
