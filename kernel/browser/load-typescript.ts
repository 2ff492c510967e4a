import type * as node from "../node/load-typescript.js";

const offered: { typescript?: unknown } = {};

/** Whoever starts the compiler has fetched it before. */
export function offerTypeScript(typescript: unknown): void {
  offered.typescript = typescript;
}

export const loadTypeScript: typeof node.loadTypeScript = () => {
  if (offered.typescript === undefined) throw new Error("Cannot compile: TypeScript is not there");
  return offered.typescript;
};

/** A browser keeps compiled scripts by itself. */
export const saveCodeCache: typeof node.saveCodeCache = () => undefined;
