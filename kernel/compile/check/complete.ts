import { systemOf } from "#kernel-platform/system";
import { readdirSync, readFileSync } from "#platform/files";
import { join } from "#platform/path";
import type { Completion } from "../../contract/compiler.js";
import { documentation } from "./documentation.js";
import { isFile, packageFolder } from "./specifiers.js";
import { type api, type BoundFile, uncancelled } from "./typescript.js";
import type { World } from "./world.js";

let known: string[] | undefined;

/** The entry points of the kernel's own package that a cell is offered: all but the internal ones. */
function ownSpecifiers(): readonly string[] {
  known ??= read();
  return known;
}

function read(): string[] {
  const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, { types: string } | string>;
  };
  const paths = Object.entries(manifest.exports).flatMap(([path, target]) => {
    if (typeof target === "string") return []; // package.json
    if (path.startsWith("./internal/")) return [];
    if (!path.includes("*")) return [path];
    const [before, after] = join(packageFolder, target.types).split("*") as [string, string];
    return readdirSync(before)
      .filter((name) => isFile(before + name + after))
      .map((name) => path.replace("*", name));
  });
  return paths.map((path) => manifest.name + path.slice(1)).sort();
}

/** The module name being written up to `position`: where it starts and what is there of it. */
export function specifierAt(
  text: string,
  position: number,
): { start: number; typed: string } | undefined {
  const before = text.slice(0, position);
  for (const quote of ['"', "'"]) {
    const at = before.lastIndexOf(quote);
    if (at <= before.lastIndexOf("\n")) continue;
    const leading = before.slice(0, at).trimEnd();
    if (/(?:\bfrom|\bimport(?:\s*\()?|\brequire\s*\()$/.test(leading)) {
      return { start: at + 1, typed: before.slice(at + 1) };
    }
  }
  return undefined;
}

/** The name that a text ends with. */
export const nameAtEnd = (text: string): string =>
  /(?<![\p{ID_Continue}$\u200c\u200d])[\p{ID_Continue}$\u200c\u200d]*$/u.exec(text)?.[0] ?? "";

/** Front ends show long lists badly, and describing an entry costs more than listing it. */
const listed = 500;
const described = 20;

type Entry = api.CompletionEntry & { symbol?: api.Symbol };

/** What could stand at a position of a bound cell. */
export function complete(world: World, file: BoundFile, position: number): Completion {
  const { ts, program } = world;
  const source = file;
  const host = languageHost(world);
  const info = ts.Completions.getCompletionsAtPosition(
    host,
    program,
    () => undefined,
    source,
    position,
    { includeCompletionsWithInsertText: false, includeCompletionsForModuleExports: false },
    undefined,
    ts.CompletionTriggerKind.Invoked,
    uncancelled,
    undefined,
    true,
  );
  const entries: Entry[] = [...(info?.entries ?? [])];
  const { start, end } = span(file, position, info, entries);
  const typed = file.text.slice(start, position);
  entries.push(...ownModules(file.text, position, start, entries));
  if (info?.isGlobalCompletion === true && !world.hasNodeTypes) entries.push(...globals(entries));
  const declared = optionOrder(world, file, position);
  const order = ({ name }: Entry): number => declared.get(name) ?? declared.size;
  const ranked = entries
    .filter(({ kind }) => kind !== world.ts.ScriptElementKind.warning)
    .map((entry) => ({ entry, rank: rank(entry.name, typed) }))
    .filter((candidate) => candidate.rank >= 0)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        compare(a.entry.sortText, b.entry.sortText) ||
        order(a.entry) - order(b.entry) ||
        compare(a.entry.name, b.entry.name),
    )
    .slice(0, listed)
    .map(({ entry }) => entry);
  return {
    start,
    end,
    matches: ranked.map(({ name }) => name),
    items: ranked.map((entry, i) => ({
      text: entry.name,
      type: kinds[entry.kind] ?? entry.kind,
      ...(i < described ? describe(world, source, entry, position) : {}),
    })),
  };
}

/** The entry points of the kernel's own package, which TypeScript looks for in the notebook's folder only. */
function ownModules(
  text: string,
  position: number,
  start: number,
  entries: readonly Entry[],
): Entry[] {
  const specifier = specifierAt(text, position);
  if (specifier === undefined) return [];
  const listed = new Set(entries.map(({ name }) => name));
  const written = text.slice(specifier.start, start);
  return ownSpecifiers()
    .filter((name) => name.startsWith(specifier.typed) && name.startsWith(written))
    .map((name) => name.slice(written.length))
    .filter((name) => name !== "" && !listed.has(name))
    .map((name) => ({
      name,
      kind: "external module name" as api.ScriptElementKind,
      sortText: "11",
    }));
}

/** Names that Node has and whose types are not loaded yet. */
function globals(entries: readonly Entry[]): Entry[] {
  const listed = new Set(entries.map(({ name }) => name));
  return Object.getOwnPropertyNames(globalThis)
    .filter((name) => !listed.has(name))
    .map((name) => {
      const isFunction = typeof Reflect.get(globalThis, name) === "function";
      const kind = !isFunction ? "var" : /^[A-Z]/.test(name) ? "class" : "function";
      return { name, kind: kind as api.ScriptElementKind, sortText: "15" };
    });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** 0 for what continues as typed, 1 without regard to case, 2 inside of the name, -1 for the rest. */
function rank(name: string, typed: string): number {
  if (name.startsWith(typed)) return 0;
  const lower = typed.toLowerCase();
  if (name.toLowerCase().startsWith(lower)) return 1;
  return name.toLowerCase().includes(lower) ? 2 : -1;
}

/** Where an object's key is being written: its type's keys in the order of their declaration, in which options stand by use. */
function optionOrder(world: World, file: BoundFile, position: number): Map<string, number> {
  const { ts, checker } = world;
  let node: api.Node | undefined = ts.findPrecedingToken(position, file);
  while (node !== undefined && !ts.isObjectLiteralExpression(node)) {
    if (ts.isPropertyAssignment(node) || ts.isFunctionLike(node)) return new Map();
    node = node.parent;
  }
  const type = node === undefined ? undefined : checker.getContextualType(node);
  if (type === undefined) return new Map();
  return new Map(checker.getPropertiesOfType(type).map(({ name }, at) => [name, at]));
}

/** What a completion replaces: the name around the cursor, or the last step of a path. */
function span(
  file: BoundFile,
  position: number,
  info: api.CompletionInfo | undefined,
  entries: readonly Entry[],
): { start: number; end: number } {
  const given = entries[0]?.replacementSpan ?? info?.optionalReplacementSpan;
  if (given !== undefined) return { start: given.start, end: given.start + given.length };
  const name = nameAtEnd(file.text.slice(0, position));
  const rest = /^[\p{ID_Continue}$\u200c\u200d]*/u.exec(file.text.slice(position))?.[0] ?? "";
  return { start: position - name.length, end: position + rest.length };
}

function describe(
  world: World,
  file: api.SourceFile,
  entry: Entry,
  position: number,
): { signature?: string; documentation?: string } {
  const { ts, checker } = world;
  let symbol = entry.symbol;
  if (symbol === undefined) return {};
  if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const { text } = documentation(ts, symbol);
  const docs = text === "" ? {} : { documentation: text };
  if ((symbol.flags & ts.SymbolFlags.Value) === 0) return docs;
  const at = ts.findPrecedingToken(position, file) ?? file;
  const type = checker.getTypeOfSymbolAtLocation(symbol, at);
  const signature = checker.typeToString(
    type,
    at,
    ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope,
  );
  return { signature, ...docs };
}

/** TypeScript's kinds in the words Jupyter front ends have icons for. */
const kinds: Record<string, string> = {
  alias: "variable",
  call: "function",
  const: "constant",
  "enum member": "enum",
  getter: "property",
  "local class": "class",
  "local function": "function",
  "local var": "variable",
  let: "variable",
  parameter: "variable",
  "primitive type": "type",
  setter: "property",
  "type parameter": "type",
  using: "constant",
  "await using": "constant",
  var: "variable",
  directory: "folder",
  "external module name": "module",
  script: "file",
  string: "text",
};

/** The little that TypeScript's services ask of an editor. */
function languageHost(world: World): object {
  const { ts, program, options } = world;
  const sys = systemOf(ts.sys);
  return {
    getCompilationSettings: () => options,
    getCurrentDirectory: () => program.getCurrentDirectory(),
    fileExists: (path: string) => sys.fileExists(path),
    readFile: (path: string) => sys.readFile(path),
    directoryExists: (path: string) => sys.directoryExists(path),
    getDirectories: (path: string) => sys.getDirectories(path),
    readDirectory: (...all: Parameters<typeof sys.readDirectory>) => sys.readDirectory(...all),
    realpath: (path: string) => sys.realpath?.(path) ?? path,
    useCaseSensitiveFileNames: () => true,
    getScriptFileNames: () => [],
    getNewLine: () => "\n",
  };
}
