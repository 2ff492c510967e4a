import { importAddress } from "#platform/module-files";
import type * as node from "../node/native.js";
import { bundledModule } from "./own-module.js";

export const nativeImport: typeof node.nativeImport = (specifier) => {
  const name = specifier.replace(/^(?!node:)(assert|fs|os|path|timers|url)(\/|$)/, "node:$1$2");
  const found = bundledModule(name);
  if (found !== undefined) return found;
  if (/^(https?|blob|data|file):/.test(specifier)) return importAddress(specifier);
  if (/^arpo-lab\/experimental\/(serve|doctor|scale)$/.test(specifier)) {
    throw new Error(`Cannot import ${specifier}: it is for machines, and a browser tab has none`);
  }
  throw new Error(
    `Cannot import ${specifier}: in a browser tab it must be one of the lab's own modules, a file, or a whole address (https://…)`,
  );
};

const refuse = (what: string): never => {
  throw new Error(`Cannot require ${what}: in a browser tab write import, got require`);
};

export const nativeRequire: typeof node.nativeRequire = () =>
  Object.assign((specifier: string) => refuse(specifier), {
    resolve: Object.assign((specifier: string) => refuse(specifier), { paths: () => null }),
    cache: {},
    extensions: {} as NodeJS.RequireExtensions,
    main: undefined,
  });

export const requireAgain: typeof node.requireAgain = (path) => refuse(path);

/** There are no CommonJS modules here. */
export const interop: typeof node.interop = (namespace) => namespace;
