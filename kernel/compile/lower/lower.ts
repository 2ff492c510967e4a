import { names as own } from "../../contract/added.js";
import { type ColumnMap, sourceOf } from "../../contract/column-map.js";
import type { api, BoundFile } from "../check/typescript.js";
import type { World } from "../check/world.js";
import { valueNames } from "./declared.js";
import { earlyError, type EarlyError } from "./early-errors.js";
import { type Changed, Edits } from "./edits.js";
import { ImportTable, member } from "./imports.js";
import type { Lowering } from "./lowering.js";
import type { SessionNames } from "./scope.js";
import { splice } from "./splice.js";

/** The call that publishes what a module exports, before anything of it runs. */
function exportTable(state: Lowering): string {
  const { ts, file } = state;
  const entries = new Map<string, string>();
  for (const node of file.statements) {
    if (ts.isExportAssignment(node)) entries.set("default", "__default");
    else if (ts.isExportDeclaration(node)) addClause(state, node, entries);
    else if (ts.canHaveModifiers(node) && node.modifiers !== undefined) {
      const has = (kind: api.SyntaxKind): boolean =>
        node.modifiers?.some((modifier) => modifier.kind === kind) === true;
      if (!has(ts.SyntaxKind.ExportKeyword)) continue;
      for (const name of valueNames(state, node as api.Statement)) {
        entries.set(has(ts.SyntaxKind.DefaultKeyword) ? "default" : name, name);
      }
    }
  }
  const table = [...entries].map(([name, value]) => `${JSON.stringify(name)}: () => ${value}`);
  return `${own.cell}.exports({ ${table.join(", ")} });`;
}

function addClause(
  state: Lowering,
  node: api.ExportDeclaration,
  entries: Map<string, string>,
): void {
  const { ts, checker, imports } = state;
  const clause = node.exportClause;
  if (clause === undefined || node.isTypeOnly) return;
  if (ts.isNamespaceExport(clause)) {
    entries.set(clause.name.text, imports.reexported(node));
    return;
  }
  for (const element of clause.elements) {
    const local = element.propertyName ?? element.name;
    const symbol =
      node.moduleSpecifier === undefined
        ? checker.getExportSpecifierLocalTargetSymbol(element)
        : checker.getSymbolAtLocation(element.name);
    if (element.isTypeOnly || !imports.isValue(symbol)) continue;
    const value =
      node.moduleSpecifier !== undefined
        ? member(imports.reexported(node), local.text)
        : ((symbol && imports.access(symbol)) ?? local.text);
    entries.set(element.name.text, value);
  }
}

/**
 * Hands to TypeScript what is left of a file whose names, imports and exports have been replaced. The
 * source map is that of the file: `columns` lead from the changed text to it.
 */
function transpile(
  { ts, options }: World,
  text: string,
  columns: ColumnMap["columns"],
  file: api.SourceFile,
  source: string,
): { text: string; map: string } {
  const { outputText, sourceMapText = "" } = ts.transpileModule(text, {
    fileName: /js$/.test(file.fileName) ? "cell.js" : "cell.ts",
    compilerOptions: {
      ...options,
      module: ts.ModuleKind.ESNext,
      moduleDetection: ts.ModuleDetectionKind.Force,
    },
  });
  const host = { getCurrentDirectory: () => "", getCanonicalFileName: (name: string) => name };
  const generator = ts.createSourceMapGenerator(host, "", "", "", {});
  const index = generator.addSource(source);
  const { mappings } = JSON.parse(sourceMapText) as { mappings: string };
  for (const {
    generatedLine,
    generatedCharacter,
    sourceLine,
    sourceCharacter,
  } of ts.decodeMappings(mappings)) {
    if (sourceLine === undefined || sourceCharacter === undefined) continue;
    const { line, column } = sourceOf({ columns }, sourceLine + 1, sourceCharacter);
    // One line further down, after the head of the function.
    generator.addMapping(generatedLine + 1, generatedCharacter, index, line - 1, column);
  }
  const end = outputText.lastIndexOf("//# sourceMappingURL=");
  return {
    text: outputText.slice(0, end).replace(/export \{\};\n$/, ""),
    map: JSON.stringify(generator.toJSON()),
  };
}

// From a bound source file to the body of a JavaScript function.
//
// Variables of the cell itself stay native locals, so its loops run at full speed; each is published
// through a getter and a setter (`define`) when it is initialised. Names of earlier cells become
// `$lab·x.v`. Imports become `await $lab··cell.import(…)` and their names `$lab·x.y`, which keeps them
// live. A program that reads a function's text sees none of it: ../../contract/added.ts.

export interface Lowered {
  js: string;
  /** As in `CompiledCell`. */
  map: string;
  /** Why it must not run: JavaScript's own rules. */
  error?: EarlyError;
  /** Names of the session that the code reads. */
  read: ReadonlySet<string>;
}

interface LowerOptions {
  world: World;
  file: BoundFile;
  /** The path that the source map names. */
  source: string;
  /** With names: a cell, whose last expression is its value. Without: a module with exports. */
  names?: SessionNames;
  /** Names nobody declared are looked up when the cell runs, as in plain JavaScript. */
  late: boolean;
  /** JavaScript that makes what compiled code calls from the function's argument. */
  enter: string;
  /** Tell how long it took. */
  time?: boolean;
}

/** Compiles a file that has passed its checks (or need not). */
export function lower(options: LowerOptions): Lowered {
  const { world, names, file } = options;
  const state: Lowering = {
    ts: world.ts,
    checker: world.checker,
    file,
    names,
    late: options.late,
    imports: new ImportTable(world, file),
    edits: new Edits(file.text),
    outside: new Map(),
    read: new Set(),
    hoisted: [],
    erases: world.keepsText,
    isTypeScript: !world.keepsText,
  };
  const exports = names === undefined ? exportTable(state) : undefined;
  splice(state);
  const emit = ({ text, columns }: Changed): { text: string; map: string } =>
    transpile(world, text, columns, file, options.source);
  const changed = state.edits.apply();
  const { text, map } = state.isTypeScript
    ? emit(changed)
    : { text: changed.text, map: JSON.stringify({ columns: changed.columns }) };
  const plain = state.edits.apply(true);
  const emitted = state.isTypeScript ? emit(plain) : undefined;
  const error = earlyError(state, { ...plain, ...emitted }, emitted?.map);
  const header = [
    `"use strict"; const ${own.cell} = ${options.enter}; const ${own.tick} = ${own.cell}.tick;`,
    ...[...state.outside].map(([variable, found]) => `const ${variable} = ${found};`),
    names === undefined ? undefined : `let ${own.value};`,
    options.time === true ? `const ${own.start} = performance.now(); try {` : undefined,
    exports,
    ...state.hoisted,
  ].filter((part) => part !== undefined);
  const timed =
    options.time === true
      ? `} finally { ${own.cell}.took(performance.now() - ${own.start}); }\n`
      : "";
  const footer = timed + (names === undefined ? "" : `return ${own.value};\n`);
  return {
    js: `(async (${own.scope}) => { ${header.join(" ")}\n${text}\n${footer}})`,
    map,
    error,
    read: state.read,
  };
}
