// What compiled cells are given, on the thread where they run.
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { KernelHost } from "../host/host.js";
import type { CellScope, LoadedModule } from "./contract.js";
import { attributesOf, Modules } from "./modules.js";
import { Names, type Ref } from "./names.js";
import { nativeRequire, type Namespace } from "./native.js";

/** What one compiled cell calls `__lab`. */
interface RunningCell {
  tick(): void;
  ref(name: string): Ref;
  /** The value of a name for `typeof`, which does not mind when there is none. */
  peek(name: string): unknown;
  define(name: string, get: () => unknown, set?: (value: unknown) => void): void;
  import(specifier: string, options?: { with?: Record<string, string> }): Promise<Namespace>;
  readonly require: NodeJS.Require;
  readonly meta: ImportMeta;
  readonly __dirname: string;
  readonly __filename: string;
}

export interface SessionScope extends CellScope {
  /** Called first by every compiled cell. */
  enter(id: string, path: string): RunningCell;
}

/** Makes the scope of a session. `load` asks the compiler where an import leads. */
export function createCellScope(
  host: KernelHost,
  load: (specifier: string, importer: string) => Promise<LoadedModule>,
): SessionScope {
  const names = new Names();
  const flag = host.interruptFlag;
  const tick = (): void => {
    if (flag[0] !== 0) host.checkInterrupt();
  };
  const modules = new Modules(load, tick, ownModule);
  const folder = process.cwd;
  return {
    variables: names.variables,
    maps: modules.maps,
    tick,
    import: (specifier, attributes) => modules.import(specifier, `${folder()}/cell.ts`, attributes),
    defined: (id) => names.take(id),
    enter: (id, path) => {
      const at = dirname(path);
      return {
        tick,
        ref: (name) => names.ref(name),
        peek: (name) => {
          const ref = names.ref(name);
          return ref.declared || name in globalThis ? ref.v : undefined;
        },
        define: (name, get, set) => names.define(id, name, get, set),
        import: (specifier, options) => modules.import(specifier, path, attributesOf(options)),
        get require() {
          return nativeRequire(at);
        },
        get meta() {
          return { url: pathToFileURL(path).href, dirname: at, filename: path } as ImportMeta;
        },
        __dirname: at,
        __filename: path,
      };
    },
  };
}

/** The kernel's own modules: this copy of them, because it is the one that is connected. */
function ownModule(specifier: string): Promise<Namespace> | undefined {
  if (specifier === "arpo-lab/kernel") return import("../index.js");
  if (specifier === "tslab") return import("./tslab.js");
  return undefined;
}
