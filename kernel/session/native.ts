// Node's own loader, seen from the folder of a notebook.
import { createRequire } from "node:module";
import { join } from "node:path";
import vm from "node:vm";

export type Namespace = Record<string, unknown>;
type Importer = (specifier: string, options?: object) => Promise<Namespace>;

const importers = new Map<string, Importer>();

/** Node's `import()`, as a module of this folder would call it. */
export async function nativeImport(
  specifier: string,
  folder: string,
  attributes?: Record<string, string>,
): Promise<Namespace> {
  let importer = importers.get(folder);
  if (importer === undefined) {
    const script = new vm.Script("(specifier, options) => import(specifier, options)", {
      filename: join(folder, "cell.mjs"),
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    importer = script.runInThisContext() as Importer;
    importers.set(folder, importer);
  }
  const options = attributes === undefined ? undefined : { with: attributes };
  return interop(await importer(specifier, options));
}

/** `require`, as a CommonJS module of this folder has it. */
export function nativeRequire(folder: string): NodeJS.Require {
  return createRequire(join(folder, "cell.cjs"));
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
  if (record.__esModule !== true) return namespace;
  let view = views.get(namespace);
  if (view === undefined) {
    view = new Proxy(namespace, {
      get: (target, name: string) => {
        if (name === "default") return "default" in record ? record.default : record;
        return name in target ? target[name] : record[name];
      },
    });
    views.set(namespace, view);
  }
  return view;
}
