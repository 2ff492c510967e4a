// What compiled cells are given, on the thread where they run.
import { runBash } from "#kernel-platform/bash";
import { nativeRequire } from "#kernel-platform/native";
import type { Namespace } from "#kernel-platform/own-module";
import { addressOf } from "#platform/addresses";
import { currentFolder } from "#platform/machine";
import { dirname } from "#platform/path";
import type { KernelHost, MimeBundle } from "../../host/host.js";
import type { CellScope, LoadedModule } from "../../contract/compiler.js";
import { setStageRegister, stageSpecifier } from "../../contract/stage.js";
import { type DenoNames, denoNames } from "./deno.js";
import { attributesOf, Modules } from "./modules.js";
import { Names, type Ref } from "./names.js";

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
  /** Tells how long the cell took. */
  took(milliseconds: number): void;
  readonly Deno: DenoNames;
  readonly __dirname: string;
  readonly __filename: string;
}

export interface SessionScope extends CellScope {
  /** Called first by every compiled cell. */
  enter(id: string, path: string): RunningCell;
  print(text: string): void;
  show(bundle: MimeBundle): void;
  bash(script: string): Promise<void>;
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
  const modules = new Modules(load, tick);
  const Deno = denoNames(host);
  setStageRegister(async (stage) => {
    await load(stageSpecifier, JSON.stringify(stage));
  });
  return {
    variables: names.variables,
    maps: modules.maps,
    tick,
    import: (specifier, attributes) =>
      modules.import(specifier, `${currentFolder()}/cell.ts`, attributes),
    declare: (name, value) => {
      names.define(
        "debugger",
        name,
        () => value,
        (next) => (value = next),
      );
      names.take("debugger");
    },
    defined: (id) => names.take(id),
    print: (text) => host.stream("stdout", text),
    show: (bundle) => host.display(bundle),
    bash: (script) => runBash(host, script),
    enter: (id, path) => {
      const at = dirname(path);
      const cell = host.cell();
      let over = false;
      cell?.signal.addEventListener("abort", () => (over = true), { once: true });
      return {
        tick: () => {
          if (flag[0] !== 0) host.checkInterrupt();
          // An interrupted cell has answered already; a loop of it that an await brings back stops
          // here. What it defined goes on working when later cells call it.
          if (over && host.cell() === cell) throw cell?.signal.reason;
        },
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
          return { url: addressOf(path), dirname: at, filename: path } as ImportMeta;
        },
        took: (milliseconds) => host.stream("stdout", `Wall time: ${duration(milliseconds)}\n`),
        Deno,
        __dirname: at,
        __filename: path,
      };
    },
  };
}

function duration(milliseconds: number): string {
  if (milliseconds < 1) return `${(milliseconds * 1000).toFixed(0)} µs`;
  if (milliseconds < 1000) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${((milliseconds / 1000) % 60).toFixed(0)} s`;
}
