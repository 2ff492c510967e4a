import type { Lowering } from "./lowering.js";
import type { api } from "../check/typescript.js";

/**
 * The JavaScript of an import: the module is loaded and, in a cell, its names are published and added to
 * `published`. Empty when only types are imported.
 */
export function importText(
  state: Lowering,
  node: api.ImportDeclaration,
  published: Set<string> | undefined,
): string {
  const variable = state.imports.module(node);
  if (variable === undefined) return "";
  const parts = [loadText(state, node, node.moduleSpecifier, variable)];
  for (const name of published === undefined ? [] : importedNames(state, node)) {
    const access = state.imports.access(name);
    if (access === undefined) continue;
    published?.add(name.name);
    parts.push(`__lab.define(${JSON.stringify(name.name)}, () => ${access})`);
  }
  return parts.join("; ");
}

export function loadText(
  state: Lowering,
  node: api.ImportDeclaration | api.ExportDeclaration,
  specifier: api.Expression,
  variable: string,
): string {
  const text = state.ts.isStringLiteral(specifier) ? specifier.text : "";
  const attributes = attributesOf(state, node);
  return `const ${variable} = await __lab.import(${JSON.stringify(text)}${attributes})`;
}

function attributesOf(
  state: Lowering,
  { attributes }: api.ImportDeclaration | api.ExportDeclaration,
): string {
  if (attributes === undefined) return "";
  const pairs = attributes.elements.map(
    (element) => `${JSON.stringify(element.name.text)}: ${element.value.getText(state.file)}`,
  );
  return `, { with: { ${pairs.join(", ")} } }`;
}

function importedNames(state: Lowering, node: api.ImportDeclaration): api.Symbol[] {
  const { ts, checker } = state;
  const names: api.Symbol[] = [];
  const add = (name: api.Identifier | undefined): void => {
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol !== undefined) names.push(symbol);
  };
  const clause = node.importClause;
  add(clause?.name);
  const named = clause?.namedBindings;
  if (named === undefined) return names;
  if (ts.isNamespaceImport(named)) add(named.name);
  else named.elements.forEach((element) => add(element.name));
  return names;
}
