// The text of a cell to JavaScript, behind the contract: magic/ reads what stands before the code,
// compile/ checks and lowers the code.
import { join } from "#platform/path";
import type { MimeBundle } from "../host/host.js";
import { complete } from "./check/complete.js";
import {
  cannotFindName,
  importErrors,
  loadTypesNamed,
  localErrors,
  syntaxErrors,
  typeErrors,
} from "./check/diagnostics.js";
import { inspect } from "./check/inspect.js";
import { declaredNames } from "./check/declared-names.js";
import { isComplete } from "./check/is-complete.js";
import { debugCode } from "./debug-code.js";
import { IdleWork } from "./idle-work.js";
import { loadLocal } from "./load.js";
import { lower } from "./lower/lower.js";
import { reflected } from "./check/reflected.js";
import { moduleName } from "./magic/module-name.js";
import { nestingError } from "./magic/nesting.js";
import { packageFolder, specifiers } from "./check/specifiers.js";
import { SessionNames } from "./lower/scope.js";
import { readSettings, type Settings } from "./check/settings.js";
import type { api, BoundFile } from "./check/typescript.js";
import { World } from "./check/world.js";
import { names } from "../contract/added.js";
import type {
  CellCompiler,
  CellDiagnostic,
  CompiledCell,
  Completeness,
  CompileRequest,
  CompilerOptions,
  Completion,
  LoadedModule,
  MadeNames,
} from "../contract/compiler.js";
import type { DebugCode } from "../contract/debug.js";
import type { DiagnoseAnswer, DiagnoseQuestion } from "../contract/diagnose.js";
import { completeMagic, inspectMagic } from "./magic/assist.js";
import { contentCell, printingCell } from "./magic/content.js";
import { lineAndColumn, problem, readHead } from "./magic/head.js";
import { withInstead } from "./magic/elsewhere.js";
import { hasMagic, readCell, type Reading, readQuestion, overwrites } from "./magic/read-cell.js";
import { loadedStages, StageRegistry } from "./magic/registry.js";
import { stageSpecifier, type Stage } from "../contract/stage.js";
import type { StaleAnswer, StaleQuestion } from "../contract/stale.js";
import { CellRuns, type CellRun } from "./stale/staleness.js";

/** Makes the compiler of a session. Its first answer waits for the standard library to be read. */
export function createCellCompiler(options: CompilerOptions): CellCompiler {
  return new TypeScriptCells(options);
}

class TypeScriptCells implements CellCompiler {
  readonly #javascript: boolean;
  readonly #settings: Settings;
  readonly #world: World;
  readonly #names: SessionNames;
  /** Names of what stage cells made: the next one may make it anew. */
  readonly #made = new Set<string>();
  readonly #making = new Map<string, string | undefined>();
  readonly #registry: StageRegistry;
  readonly #running = new Map<string, BoundFile>();
  readonly #runs = new CellRuns();
  readonly #reads = new Map<string, Pick<CellRun, "cell" | "source" | "read">>();
  #checks: boolean;
  #diagnosed = 0;
  readonly #idle: IdleWork;
  /** A cell has been run: the notebook's project may run as well. */
  #hasRun = false;

  constructor({ language, folder }: CompilerOptions) {
    this.#javascript = language === "javascript";
    this.#settings = readSettings(folder);
    this.#checks = this.#settings.check && !this.#javascript;
    this.#world = new World(folder, this.#settings.compilerOptions);
    this.#names = new SessionNames(this.#world.ts);
    this.#idle = new IdleWork(this.#world, () => {
      complete(this.#world, this.#look("Math.", folder), 5);
    });
    const own = readSettings(packageFolder).stages;
    this.#registry = new StageRegistry(own, this.#settings.stages, folder);
  }

  compile(request: CompileRequest): Promise<CompiledCell> | CompiledCell {
    this.#idle.stop();
    if (request.kind === "cell") this.#hasRun = true;
    const loading = hasMagic(request.source) ? this.#registry.load(true) : undefined;
    if (loading === undefined) {
      const compiled = this.#compile(request);
      if (!compiled.ok) this.#idle.schedule();
      return compiled;
    }
    return loading.then((modules) => {
      const compiled = this.#compile(request);
      if (!compiled.ok) this.#idle.schedule();
      if (!("diagnostics" in compiled)) return compiled;
      const told = modules.map((name) => loadedStages(request.source, name));
      return { ...compiled, diagnostics: [...compiled.diagnostics, ...told] };
    });
  }

  settled(id: string, _outcome: string, made: MadeNames | undefined): void {
    const reading = this.#reads.get(id);
    this.#reads.delete(id);
    const { defined, assigned } = made ?? { defined: [], assigned: [] };
    if (reading !== undefined && made !== undefined) {
      this.#runs.add({ ...reading, declared: defined, assigned });
    }
    const file = this.#running.get(id);
    if (file === undefined) return;
    this.#running.delete(id);
    const makes = this.#making.get(id);
    this.#making.delete(id);
    const ran = new Set(defined);
    const { SymbolFlags, getCombinedModifierFlags, ModifierFlags } = this.#world.ts;
    const isAmbient = (symbol: api.Symbol): boolean =>
      symbol.valueDeclaration !== undefined &&
      (getCombinedModifierFlags(symbol.valueDeclaration) & ModifierFlags.Ambient) !== 0;
    for (const [key, local] of file.locals ?? []) {
      const name = this.#world.ts.unescapeLeadingUnderscores(key as api.__String);
      const symbol = (local as { exportSymbol?: api.Symbol }).exportSymbol ?? local;
      const isValue = (this.#meaning(symbol) & SymbolFlags.Value) !== 0;
      if (isValue && !ran.has(name) && !isAmbient(symbol)) continue;
      this.#names.set(key, symbol, (each) => this.#meaning(each));
      if (name === makes) this.#made.add(name);
      else this.#made.delete(name);
    }
    this.#idle.schedule();
  }

  async stale({ cells, of }: StaleQuestion): Promise<StaleAnswer> {
    if (cells.some(({ source }) => hasMagic(source))) await this.#registry.load(this.#hasRun);
    const runs = this.#runs;
    const states = Object.fromEntries(runs.states(cells));
    const plan = of === undefined ? runs.planStale(cells) : runs.planDependents(cells, of);
    const sources = new Map(cells.map(({ id, source }) => [id, source]));
    const long = plan.plan.filter((id) => this.#takesLong(sources.get(id)!));
    return { cells: states, ...plan, long };
  }

  async diagnose({ cells, of }: DiagnoseQuestion, folder: string): Promise<DiagnoseAnswer> {
    if (cells.some(({ source }) => hasMagic(source))) await this.#registry.load(this.#hasRun);
    const source = cells.find(({ id }) => id === of)?.source ?? "";
    const reading = this.#read(source);
    if (reading.problems.length > 0) return { diagnostics: reading.problems };
    const isCode = reading.content === undefined && !reading.show;
    if (!isCode || readQuestion(source) !== undefined || moduleName(source) !== undefined) {
      return { diagnostics: [] };
    }
    const javascript = reading.javascript || this.#javascript;
    // The checker keeps what it found by the file's name.
    const file = this.#parsed(reading, folder, `typing ${this.#diagnosed++}`, javascript);
    const faults = this.#faults(source, reading, file, javascript);
    const isMissing = ({ code }: CellDiagnostic): boolean => cannotFindName.has(code);
    if (!faults.some(isMissing)) return { diagnostics: faults };
    const elsewhere = new Set(
      cells.flatMap((cell) => (cell.id === of ? [] : this.#declaredBy(cell.source))),
    );
    const diagnostics = faults.filter(
      (fault) =>
        !isMissing(fault) || !elsewhere.has(source.slice(fault.start, fault.start + fault.length)),
    );
    return { diagnostics };
  }

  load(specifier: string, importer: string): LoadedModule {
    if (specifier === stageSpecifier) {
      this.#registry.add(JSON.parse(importer) as Stage);
      return { kind: "native", specifier };
    }
    return loadLocal(this.#world, specifier, importer);
  }

  async complete(source: string, position: number, folder: string): Promise<Completion> {
    const nothing: Completion = { matches: [], start: position, end: position, items: [] };
    if (!hasMagic(source)) {
      const early = this.#reflected(source, position, folder);
      return early ?? complete(this.#world, this.#look(source, folder), position);
    }
    await this.#registry.load(this.#hasRun);
    const { stages } = this.#registry;
    const magic = completeMagic(source, position, stages);
    if (magic !== undefined) return magic;
    const reading = this.#read(source);
    const at = reading.map.toText(position);
    if (at === undefined || reading.content !== undefined) return nothing;
    const found = complete(this.#world, this.#look(reading.map.text, folder), at);
    const { toSource } = mapper(reading);
    return { ...found, start: toSource(found.start), end: toSource(found.end) };
  }

  async inspect(
    source: string,
    position: number,
    detail: 0 | 1,
    folder: string,
  ): Promise<MimeBundle | undefined> {
    if (!hasMagic(source)) {
      return inspect(this.#world, this.#look(source, folder), position, detail);
    }
    await this.#registry.load(this.#hasRun);
    const magic = inspectMagic(source, position, this.#registry.stages);
    if (magic !== undefined) return magic;
    const reading = this.#read(source);
    const at = reading.map.toText(position);
    if (at === undefined || reading.content !== undefined) return undefined;
    return inspect(this.#world, this.#look(reading.map.text, folder), at, detail);
  }

  isComplete(source: string): Completeness {
    if (readQuestion(source) !== undefined) return { status: "complete" };
    if (!hasMagic(source)) return isComplete(this.#world.ts, source);
    const reading = this.#read(source);
    if (reading.content !== undefined || reading.problems.length > 0) {
      return { status: /\n[ \t]*$/.test(source) ? "complete" : "incomplete", indent: "" };
    }
    return isComplete(this.#world.ts, source.slice(readHead(source).bodyStart));
  }

  debugCode(text: string, path: string | undefined): DebugCode {
    this.#world.ensure();
    return debugCode(this.#world, text, path);
  }

  warm(): void {
    this.#idle.start();
  }

  #compile(request: CompileRequest): CompiledCell {
    const { source, folder } = request;
    const question = readQuestion(source);
    if (question !== undefined) return this.#answer(question, folder);
    const reading = this.#read(source);
    if (reading.problems.length > 0) return { ok: false, diagnostics: reading.problems };
    const makes = reading.stage?.makes;
    if (makes && !makes.said && this.#names.knows(makes.name) && !this.#made.has(makes.name)) {
      return { ok: false, diagnostics: [overwrites(source, reading.stage!)] };
    }
    if (reading.notebookChecks !== undefined) this.#checks = reading.notebookChecks;
    if (reading.show) return printingCell(reading);
    if (reading.content !== undefined)
      return contentCell(source, reading.content, reading.map.text);
    const javascript = reading.javascript || this.#javascript;
    const module = moduleName(source);
    if (module !== undefined) return this.#addModule(request, module, javascript);
    return this.#compileCode(request, reading, javascript);
  }

  #compileCode(request: CompileRequest, reading: Reading, javascript: boolean): CompiledCell {
    const world = this.#world;
    const { source, folder, id } = request;
    const file = this.#parsed(reading, folder, id, javascript);
    const faults = this.#faults(source, reading, file, javascript);
    if (file === undefined || faults.length > 0) return { ok: false, diagnostics: faults };
    const checks = this.#isChecked(source, reading, javascript);
    const { js, map, error, read } = lower({
      world,
      file,
      source: request.filename,
      names: this.#names,
      late: !checks,
      time: reading.time,
      enter: `${names.scope}.enter(${JSON.stringify(request.id)}, ${JSON.stringify(file.path)})`,
    });
    if (error !== undefined) {
      const told = problem(file.text, error.start, 1, error.message);
      return { ok: false, diagnostics: [inCell(source, reading, told)] };
    }
    if (request.kind === "cell") {
      this.#running.set(id, file);
      this.#reads.set(id, { cell: request.cell, source, read });
      this.#making.set(id, reading.stage?.makes?.name);
    }
    return { ok: true, js, map, diagnostics: [] };
  }

  /** A cell as a file of the session; undefined where it is nested too deeply to be read. */
  #parsed(
    { map }: Reading,
    folder: string,
    id: string,
    javascript: boolean,
  ): BoundFile | undefined {
    const world = this.#world;
    if (nestingError(world.ts, map.text) !== undefined) return undefined;
    const file = this.#bind(map.text, folder, id, javascript);
    const imported = specifiers(world.ts, file);
    world.include(
      imported.map((node) => node.text),
      file.path,
    );
    return file;
  }

  #isChecked(source: string, reading: Reading, javascript: boolean): boolean {
    const isAsked = reading.checks ?? this.#checks;
    return isAsked && !javascript && !/^[ \t]*\/\/[ \t]*@ts-nocheck\b/m.test(source);
  }

  /** What keeps a cell from running: in its syntax, in what it imports, in its types where they are checked. */
  #faults(
    source: string,
    reading: Reading,
    file: BoundFile | undefined,
    javascript: boolean,
  ): CellDiagnostic[] {
    const world = this.#world;
    if (file === undefined) {
      const tooDeep = nestingError(world.ts, reading.map.text);
      return tooDeep === undefined ? [] : [inCell(source, reading, tooDeep)];
    }
    const errors = syntaxErrors(world, file);
    if (errors.length === 0) {
      const checks = this.#isChecked(source, reading, javascript);
      for (const node of specifiers(world.ts, file))
        errors.push(...importErrors(world, node, file.path, checks));
      if (checks) errors.push(...typeErrors(world, file));
    }
    const told = errors.map((error) => inCell(source, reading, error));
    if (reading.full) for (const error of told) error.message = error.full ?? error.message;
    return withInstead(source, told);
  }

  /** The names that a text declares for the cells after it, also while it has not run. */
  #declaredBy(source: string): string[] {
    if (readQuestion(source) !== undefined) return [];
    const reading = this.#read(source);
    const { stage, content, show, map } = reading;
    const made = stage?.makes === undefined ? [] : [stage.makes.name];
    const { ts } = this.#world;
    const isCode = content === undefined && !show && nestingError(ts, map.text) === undefined;
    return isCode ? [...made, ...declaredNames(ts, map.text)] : made;
  }

  /** `@module name`: the cell is a file that others import, as in tslab. */
  #addModule(request: CompileRequest, name: string, javascript: boolean): CompiledCell {
    const path = join(request.folder, `${name}.${javascript ? "js" : "ts"}`);
    this.#world.addModule(path, request.source);
    this.#world.include([path], path);
    this.#world.ensure();
    const errors = localErrors(this.#world, path, this.#checks);
    if (errors.length > 0) return { ok: false, diagnostics: errors };
    return { ok: true, js: "(async () => undefined)", diagnostics: [] };
  }

  #answer({ name, detail }: { name: string; detail: 0 | 1 }, folder: string): CompiledCell {
    const file = this.#look(name, folder);
    const found = inspect(this.#world, file, name.length, detail);
    return { ok: true, pager: found ?? { "text/plain": `Nothing is known of ${name}.` } };
  }

  #takesLong(source: string): boolean {
    if (!hasMagic(source)) return false;
    const { stages } = this.#registry;
    return readHead(source).lines.some(({ name }) => stages.get(name)?.long === true);
  }

  #read(source: string): Reading {
    const { ts } = this.#world;
    return readCell(ts, source, this.#registry.stages, (name) => this.#names.knows(name));
  }

  #bind(text: string, folder: string, id: string, javascript = this.#javascript): BoundFile {
    // Cells that fail the check and texts that are completed never settle, and are remembered all the same.
    if (this.#world.age >= 1) this.#idle.renew();
    this.#world.ensure();
    const path = join(folder, `[cell ${id}].${javascript ? "js" : "ts"}`);
    const file = this.#world.bind(path, text, javascript);
    (file as { parent: api.Node }).parent = this.#names.node;
    return file;
  }

  /** What is known of Node's globals without its types, which are loaded behind the answer. */
  #reflected(text: string, position: number, folder: string): Completion | undefined {
    if (this.#world.hasNodeTypes || !this.#idle.warms) return undefined;
    const file = this.#bind(text, folder, "completion");
    const found = reflected(this.#world, file, position);
    if (found === undefined) return undefined;
    this.#idle.loadTypesSoon();
    return found;
  }

  /** Binds a text that is being written: everything there is to know is loaded for it. */
  #look(text: string, folder: string): BoundFile {
    const file = this.#bind(text, folder, "completion");
    const imported = specifiers(this.#world.ts, file);
    this.#world.include(
      imported.map((node) => node.text),
      file.path,
    );
    loadTypesNamed(this.#world, file);
    return file;
  }

  /** What a name stands for: value, type, namespace; of an import, what it leads to. */
  #meaning(symbol: api.Symbol): number {
    const { checker, ts } = this.#world;
    if ((symbol.flags & ts.SymbolFlags.Alias) === 0) return symbol.flags;
    const target = checker.getAliasedSymbol(symbol);
    const declaration = symbol.declarations?.[0];
    if (declaration !== undefined && ts.isTypeOnlyImportDeclaration(declaration)) {
      const { Interface, TypeAlias, NamespaceModule } = ts.SymbolFlags;
      return Interface | TypeAlias | NamespaceModule;
    }
    if (!checker.isUnknownSymbol(target)) return target.flags;
    return ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Namespace;
  }
}

function mapper({ map }: Reading): { toSource: (position: number) => number } {
  return { toSource: (position) => map.toSource(position) };
}

/** An error of the compiled text, where it is in the cell. */
function inCell(source: string, { map }: Reading, error: CellDiagnostic): CellDiagnostic {
  if (map.text === source) return error;
  const start = map.toSource(error.start);
  const end = Math.max(map.toSource(error.start + error.length), start + 1);
  return { ...error, start, length: end - start, ...lineAndColumn(source, start) };
}
