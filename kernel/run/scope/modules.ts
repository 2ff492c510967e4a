// Local TypeScript and JavaScript files, evaluated as modules: live exports, cycles, top-level await,
// and evaluated anew when they or what they import have changed.
import { evaluate } from "#kernel-platform/evaluate";
import { nativeImport, nativeRequire, requireAgain } from "#kernel-platform/native";
import { type Namespace, ownModule } from "#kernel-platform/own-module";
import { addressOf } from "#platform/addresses";
import { dirname } from "#platform/path";
import type { LoadedModule } from "../../contract/compiler.js";

/** What a compiled local module is given. */
interface ModuleScope {
  tick(): void;
  import(
    specifier: string,
    options?: { with?: Record<string, string> } | Record<string, string>,
  ): Promise<Namespace>;
  given(name: string): { readonly v: unknown };
  module(): { v: ModuleScope["import"]; meta: ImportMeta };
  exports(table: Record<string, () => unknown>): void;
  star(from: Namespace): void;
}

interface Instance {
  version: string;
  namespace: Namespace;
  evaluated: Promise<void>;
  done: boolean;
}

export class Modules {
  readonly maps = new Map<string, string>();
  readonly #instances = new Map<string, Instance>();
  /** Which module waits for which, to tell a cycle from two who want the same. */
  readonly #waits = new Map<string, Set<string>>();

  constructor(
    readonly load: (specifier: string, importer: string) => Promise<LoadedModule>,
    readonly tick: () => void,
  ) {}

  async import(
    specifier: string,
    importer: string,
    attributes?: Record<string, string>,
  ): Promise<Namespace> {
    const own = ownModule(specifier, dirname(importer));
    if (own !== undefined) return own;
    const loaded = await this.load(String(specifier), importer);
    if (loaded.kind === "error") throw new SyntaxError(loaded.message);
    if (loaded.kind === "native") {
      return nativeImport(loaded.specifier, dirname(importer), attributes);
    }
    if (loaded.kind === "commonjs") return requireAgain(loaded.path, loaded.version);
    let instance = this.#instances.get(loaded.path);
    if (instance?.version !== loaded.version) instance = this.#evaluate(loaded);
    if (!instance.done && !this.#waitsFor(loaded.path, importer)) {
      const waits = this.#waits.get(importer) ?? new Set();
      this.#waits.set(importer, waits.add(loaded.path));
      try {
        await instance.evaluated;
      } finally {
        waits.delete(loaded.path);
      }
    }
    return instance.namespace;
  }

  #waitsFor(waiter: string, target: string): boolean {
    if (waiter === target) return true;
    for (const next of this.#waits.get(waiter) ?? []) {
      if (this.#waitsFor(next, target)) return true;
    }
    return false;
  }

  #evaluate(loaded: Extract<LoadedModule, { kind: "local" }>): Instance {
    const { path, version, js, map } = loaded;
    const namespace = Object.create(null) as Namespace;
    Object.defineProperty(namespace, Symbol.toStringTag, { value: "Module" });
    if (map !== undefined) this.maps.set(path, map);
    const run = evaluate(js, path) as (scope: ModuleScope) => Promise<void>;
    const instance: Instance = { version, namespace, evaluated: Promise.resolve(), done: false };
    this.#instances.set(path, instance);
    instance.evaluated = run(this.#scope(path, namespace)).then(
      () => {
        instance.done = true;
      },
      (error: unknown) => {
        this.#instances.delete(path);
        throw error;
      },
    );
    return instance;
  }

  #scope(path: string, namespace: Namespace): ModuleScope {
    const publish = (name: string, get: () => unknown): void => {
      Object.defineProperty(namespace, name, { get, enumerable: true, configurable: true });
    };
    const importing: ModuleScope["import"] = (specifier, options) =>
      this.import(specifier, path, attributesOf(options));
    return {
      tick: this.tick,
      import: importing,
      given: (name) => givenTo(path, name),
      module: () => ({ v: importing, meta: metaOf(path) }),
      exports: (table) => {
        for (const [name, get] of Object.entries(table)) publish(name, get);
      },
      star: (from) => {
        for (const name of Object.keys(from)) {
          if (name !== "default" && !(name in namespace)) publish(name, () => from[name]);
        }
      },
    };
  }
}

/** What Node gives a CommonJS module at this path under a name. */
export function givenTo(path: string, name: string): { readonly v: unknown } {
  if (name === "require") return { v: nativeRequire(dirname(path)) };
  if (name === "__dirname") return { v: dirname(path) };
  return { v: name === "__filename" ? path : undefined };
}

export const metaOf = (path: string): ImportMeta =>
  ({ url: addressOf(path), dirname: dirname(path), filename: path }) as ImportMeta;

/** The attributes of `import(x, { with })`. */
export function attributesOf(
  options: { with?: Record<string, string> } | Record<string, string> | undefined,
): Record<string, string> | undefined {
  const attributes = (options as { with?: Record<string, string> } | undefined)?.with;
  return typeof attributes === "object" ? attributes : undefined;
}
