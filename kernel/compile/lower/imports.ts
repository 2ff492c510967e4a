import { names, outer } from "../../contract/added.js";
import type { api } from "../check/typescript.js";
import type { World } from "../check/world.js";

/** `a` or `["a b"]`, to stand after an object. */
export function member(object: string, name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)
    ? `${object}.${name}`
    : `${object}[${JSON.stringify(name)}]`;
}

/** One name that an import statement brings. */
interface ImportedBinding {
  local: api.Identifier;
  /** The exported name; `undefined` for the whole namespace. */
  exported: string | undefined;
}

/** The names of an import that are not marked `type`. */
export function importedBindings(world: World, node: api.ImportDeclaration): ImportedBinding[] {
  const { ts } = world;
  const clause = node.importClause;
  if (clause === undefined || clause.isTypeOnly) return [];
  const found: ImportedBinding[] = [];
  if (clause.name !== undefined) found.push({ local: clause.name, exported: "default" });
  const named = clause.namedBindings;
  if (named !== undefined && ts.isNamespaceImport(named)) {
    found.push({ local: named.name, exported: undefined });
  } else if (named !== undefined) {
    for (const element of named.elements) {
      if (element.isTypeOnly) continue;
      found.push({ local: element.name, exported: (element.propertyName ?? element.name).text });
    }
  }
  return found;
}

/** The imports of one file: which are loaded when it runs, and what their names become. */
export class ImportTable {
  readonly #access = new Map<api.Symbol, string>();
  readonly #modules = new Map<api.Node, string>();
  readonly #variables = new Map<api.Node, string[]>();
  readonly #names = new Map<api.Node, string[]>();
  readonly #world: World;
  #count = 0;

  constructor(world: World, file: api.SourceFile) {
    this.#world = world;
    for (const statement of file.statements) {
      if (world.ts.isImportDeclaration(statement)) this.#add(statement);
    }
  }

  /** What an imported name is called in the compiled file. */
  access(symbol: api.Symbol): string | undefined {
    return this.#access.get(symbol);
  }

  /** The variable that holds the module of an import, undefined when only types are imported. */
  module(node: api.ImportDeclaration): string | undefined {
    return this.#modules.get(node);
  }

  /** The JavaScript that makes what `access` begins with, once the module has been loaded. */
  variables(node: api.ImportDeclaration): readonly string[] {
    return this.#variables.get(node) ?? [];
  }

  /** What an import brings that exists at run time. */
  names(node: api.ImportDeclaration): readonly string[] {
    return this.#names.get(node) ?? [];
  }

  /** The variable that holds the module of `export … from`. */
  reexported(node: api.ExportDeclaration): string {
    let name = this.#modules.get(node);
    if (name === undefined) this.#modules.set(node, (name = this.#next()));
    return name;
  }

  /** Whether a symbol stands for something at run time; what is not known, may. */
  isValue(symbol: api.Symbol | undefined): boolean {
    const { ts, checker } = this.#world;
    if (symbol === undefined) return true;
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return checker.isUnknownSymbol(target) || (target.flags & ts.SymbolFlags.Value) !== 0;
  }

  #add(node: api.ImportDeclaration): void {
    const bindings = importedBindings(this.#world, node);
    const values = bindings.flatMap(({ local, exported }) => {
      const symbol = this.#world.checker.getSymbolAtLocation(local);
      const { text } = local;
      return symbol !== undefined && this.isValue(symbol) ? [{ symbol, text, exported }] : [];
    });
    if (node.importClause !== undefined && values.length === 0) return;
    const name = this.#next();
    this.#modules.set(node, name);
    const variables: string[] = [];
    for (const { symbol, text, exported } of values) {
      const variable = outer(text);
      this.#access.set(
        symbol,
        exported === undefined ? `${variable}.v` : member(variable, exported),
      );
      variables.push(`const ${variable} = ${exported === undefined ? `{ v: ${name} }` : name}`);
    }
    this.#variables.set(node, variables);
    this.#names.set(
      node,
      values.map(({ text }) => text),
    );
  }

  #next(): string {
    return names.module(this.#count++);
  }
}
