// The text of a cell to JavaScript, behind the contract: see compile/ for how.
import { join } from "node:path";
import { complete } from "./compile/complete.js";
import { importErrors, syntaxErrors, typeErrors } from "./compile/diagnostics.js";
import { inspect } from "./compile/inspect.js";
import { loadLocal } from "./compile/load.js";
import { lower } from "./compile/lower.js";
import { SessionNames } from "./compile/scope.js";
import { readSettings, type Settings } from "./compile/settings.js";
import { specifiers } from "./compile/specifiers.js";
import type { api, BoundFile } from "./compile/typescript.js";
import { World } from "./compile/world.js";
import { isComplete } from "./compile/is-complete.js";
import type {
  CellCompiler,
  CellDiagnostic,
  CompiledCell,
  Completeness,
  CompileRequest,
  CompilerOptions,
  Completion,
  LoadedModule,
} from "./contract.js";
import type { MimeBundle } from "../host/host.js";

/** Makes the compiler of a session. Its first answer waits for the standard library to be read. */
export function createCellCompiler(options: CompilerOptions): CellCompiler {
  return new TypeScriptCells(options);
}

class TypeScriptCells implements CellCompiler {
  readonly #javascript: boolean;
  readonly #settings: Settings;
  readonly #world: World;
  readonly #names: SessionNames;
  readonly #running = new Map<string, BoundFile>();
  #checks: boolean;

  constructor({ language, folder }: CompilerOptions) {
    this.#javascript = language === "javascript";
    this.#settings = readSettings(folder);
    this.#checks = this.#settings.check && !this.#javascript;
    this.#world = new World(folder, this.#settings.compilerOptions);
    this.#names = new SessionNames(this.#world.ts);
  }

  compile(request: CompileRequest): CompiledCell {
    const world = this.#world;
    const file = this.#bind(request.source, request.folder, request.id);
    const imported = specifiers(world.ts, file as unknown as api.SourceFile);
    world.include(
      imported.map((node) => node.text),
      file.path,
    );
    const checks = this.#checks && !/^\s*\/\/\s*@ts-nocheck\b/m.test(request.source);
    const errors = syntaxErrors(world, file);
    if (errors.length > 0) return { ok: false, diagnostics: errors };
    for (const node of imported) errors.push(...importErrors(world, node, file.path, checks));
    if (checks) errors.push(...typeErrors(world, file));
    if (errors.length > 0) return { ok: false, diagnostics: errors };
    const { js, map } = lower({
      world,
      file,
      source: request.filename,
      names: this.#names,
      late: !checks,
      enter: `__scope.enter(${JSON.stringify(request.id)}, ${JSON.stringify(file.path)})`,
    });
    if (request.kind === "cell") this.#running.set(request.id, file);
    return { ok: true, js, map, diagnostics: [] };
  }

  settled(id: string, _outcome: string, defined: readonly string[]): void {
    const file = this.#running.get(id);
    if (file === undefined) return;
    this.#running.delete(id);
    const ran = new Set(defined);
    const { SymbolFlags, getCombinedModifierFlags, ModifierFlags } = this.#world.ts;
    const isAmbient = (symbol: api.Symbol): boolean =>
      symbol.valueDeclaration !== undefined &&
      (getCombinedModifierFlags(symbol.valueDeclaration) & ModifierFlags.Ambient) !== 0;
    for (const [name, local] of file.locals ?? []) {
      const symbol = (local as { exportSymbol?: api.Symbol }).exportSymbol ?? local;
      const isValue = (this.#meaning(symbol) & SymbolFlags.Value) !== 0;
      if (isValue && !ran.has(name) && !isAmbient(symbol)) continue;
      this.#names.set(name, symbol, (each) => this.#meaning(each));
    }
  }

  load(specifier: string, importer: string): LoadedModule {
    return loadLocal(this.#world, specifier, importer);
  }

  complete(source: string, position: number, folder: string): Completion {
    return complete(this.#world, this.#look(source, folder), position);
  }

  inspect(source: string, position: number, detail: 0 | 1, folder: string): MimeBundle | undefined {
    return inspect(this.#world, this.#look(source, folder), position, detail);
  }

  isComplete(source: string): Completeness {
    return isComplete(this.#world.ts, source);
  }

  #bind(source: string, folder: string, id: string): BoundFile {
    this.#world.ensure();
    const path = join(folder, `[cell ${id}].${this.#javascript ? "js" : "ts"}`);
    const file = this.#world.bind(path, source, this.#javascript);
    file.parent = this.#names.node;
    return file;
  }

  /** Binds a text that is being written: everything there is to know is loaded for it. */
  #look(source: string, folder: string): BoundFile {
    const file = this.#bind(source, folder, "completion");
    const imported = specifiers(this.#world.ts, file as unknown as api.SourceFile);
    this.#world.include(
      imported.map((node) => node.text),
      file.path,
    );
    this.#world.loadNodeTypes();
    return file;
  }

  /** What a name stands for: value, type, namespace; of an import, what it leads to. */
  #meaning(symbol: api.Symbol): number {
    const { checker, ts } = this.#world;
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return symbol.flags;
    const target = checker.getAliasedSymbol(symbol);
    if (!checker.isUnknownSymbol(target)) return target.flags;
    return ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Namespace;
  }
}

export type { CellDiagnostic };
