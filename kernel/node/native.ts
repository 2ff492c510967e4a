// Node's own loader, seen from the folder of a notebook.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import vm from "node:vm";
import { type Namespace, requireOwn } from "./own-module.js";
import "./quiet-warning.js";

type Importer = (specifier: string, options?: object) => Promise<Namespace>;

// No Map: a cell may have replaced its methods.
const importers: Record<string, Importer> = Object.create(null) as Record<string, Importer>;

/** Node's `import()`, as a module of this folder would call it. */
export async function nativeImport(
  specifier: string,
  folder: string,
  attributes?: Record<string, string>,
): Promise<Namespace> {
  let importer = importers[folder];
  if (importer === undefined) {
    const script = new vm.Script("(specifier, options) => import(specifier, options)", {
      filename: join(folder, "cell.mjs"),
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    importer = script.runInThisContext() as Importer;
    importers[folder] = importer;
  }
  const options = attributes === undefined ? undefined : { with: attributes };
  return interop(await importer(specifier, options));
}

/** `require`, as a CommonJS module of this folder has it. */
export function nativeRequire(folder: string): NodeJS.Require {
  return new Proxy(createRequire(join(folder, "cell.cjs")), {
    apply: (require, _, [specifier]: [string]) => {
      const own = requireOwn(specifier, folder);
      return own === undefined ? require(specifier) : own.exports;
    },
  });
}

const required = new Map<string, string>();

/** A local CommonJS file; when its version is new, what it requires locally is read again too. */
export function requireAgain(path: string, version: string): Namespace {
  const require = nativeRequire(dirname(path));
  if (required.get(path) !== version) {
    const forget = (module: NodeJS.Module | undefined): void => {
      if (module === undefined || module.id.includes("/node_modules/")) return;
      Reflect.deleteProperty(require.cache, module.id);
      module.children.forEach(forget);
    };
    forget(require.cache[path]);
    required.set(path, version);
  }
  const exported: unknown = require(path);
  return interop(Object.assign(Object.create(null) as Namespace, { default: exported }));
}

const views = new WeakMap<object, Namespace>();

/**
 * A CommonJS module as TypeScript describes it: compiled from a module (`__esModule`), its default is
 * `exports.default`; names that Node could not see in its source are there all the same.
 */
export function interop(namespace: Namespace): Namespace {
  const exported = namespace.default;
  const isObject = typeof exported === "object" && exported !== null;
  if (!isObject && typeof exported !== "function") return namespace;
  const record = exported as Namespace;
  const compiled = record.__esModule === true;
  if (!compiled && Object.keys(record).every((name) => name in namespace)) return namespace;
  let view = views.get(namespace);
  if (view === undefined) {
    // Not a proxy of the module itself: its properties are fixed, and a proxy may not add to them.
    view = new Proxy(Object.create(null) as Namespace, {
      get: (_, name: string) => {
        if (name === "default") return compiled && "default" in record ? record.default : record;
        return name in namespace ? namespace[name] : record[name];
      },
      has: (_, name) => name in namespace || name in record,
      ownKeys: () => [...new Set([...Object.keys(namespace), ...Object.keys(record)])],
      getOwnPropertyDescriptor: (_, name: string) => ({
        value: name in namespace ? namespace[name] : record[name],
        enumerable: true,
        configurable: true,
      }),
    });
    views.set(namespace, view);
  }
  return view;
}
