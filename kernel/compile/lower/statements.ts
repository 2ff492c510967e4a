import { added, names } from "../../contract/added.js";
import type { api } from "../check/typescript.js";
import { isWritable, lastExpression, unpublishedVariables, valueNames } from "./declared.js";
import type { Lowering } from "./lowering.js";
import { isNameless } from "./names-in-code.js";

/**
 * The JavaScript of an import: the module is loaded and, in a cell, its names are published and added to
 * `published`. Empty when only types are imported.
 */
function importText(
  state: Lowering,
  node: api.ImportDeclaration,
  published: Set<string> | undefined,
): string {
  const variable = state.imports.module(node);
  if (variable === undefined) return "";
  const load = loadText(state, node, node.moduleSpecifier, variable);
  const parts = [load, ...state.imports.variables(node)];
  for (const name of published === undefined ? [] : importedNames(state, node)) {
    const access = state.imports.access(name);
    if (access === undefined) continue;
    published?.add(name.name);
    parts.push(`${names.cell}.define(${JSON.stringify(name.name)}, () => ${access})`);
  }
  return parts.join("; ");
}

function loadText(
  state: Lowering,
  node: api.ImportDeclaration | api.ExportDeclaration,
  specifier: api.Expression,
  variable: string,
): string {
  const text = state.ts.isStringLiteral(specifier) ? specifier.text : "";
  const attributes = attributesOf(state, node);
  return `const ${variable} = await ${names.cell}.import(${JSON.stringify(text)}${attributes})`;
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

export type Visit = (node: api.Node) => void;

/**
 * The top level of a file: modules are loaded before anything runs, declarations are published as they
 * happen, and the last expression of a cell becomes its value.
 */
export function spliceStatements(state: Lowering, visit: Visit): void {
  const { ts, file, edits } = state;
  const { statements } = file;
  const isCell = state.names !== undefined;
  const published = new Set<string>();
  const last = isCell ? lastExpression(state, file) : undefined;
  const start = (node: api.Node): number => node.getStart(file);
  const define = (name: string, writable: boolean): string => {
    published.add(name);
    const { value, cell } = names;
    const setter = writable ? `, (${value}) => { ${name} = ${value}; }` : "";
    return `${cell}.define(${JSON.stringify(name)}, () => ${name}${setter});`;
  };

  const first = statements.find((node) => runs(state, node));
  for (const node of statements) {
    if (!isImport(state, node)) continue;
    const text = `${importOrExport(state, node, published)};`;
    // Names that an import brings are declared like any others.
    const names = ts.isImportDeclaration(node) ? state.imports.names(node) : [];
    const plain = names.length > 0 ? `const ${names.join(" = 0, ")} = 0;` : ";";
    if (first === undefined || node.pos < first.pos)
      edits.addFor(start(node), node.end, text, plain);
    else {
      edits.add(start(first), text, start(node));
      edits.addFor(start(node), node.end, ";", plain);
    }
  }

  for (const node of statements) {
    if (isImport(state, node)) continue;
    if (ts.isExportAssignment(node)) {
      const { expression } = node;
      const before = isCell
        ? node === last
          ? `${names.value} = { value: `
          : "("
        : "const __default = ";
      const after = isCell ? (node === last ? " };" : ");") : ";";
      const nameless = isNameless(state, expression);
      edits.addFor(start(node), start(expression), before, "(");
      if (nameless) edits.add(start(expression), added.openNamed("default"));
      visit(expression);
      if (nameless) edits.add(expression.end, added.closeNamed("default"));
      edits.addFor(expression.end, node.end, after, ");");
      continue;
    }
    if (node === last) {
      const { expression } = node as api.ExpressionStatement;
      // `(0, …)`: a function is not to be named after the property
      edits.add(start(expression), `${names.value} = { value: (0, `);
      visit(expression);
      edits.add(expression.end, ") };");
      continue;
    }
    visit(node);
    if (!isCell) continue;
    const definitions = valueNames(state, node).map((name) =>
      define(name, isWritable(state, node)),
    );
    if (ts.isFunctionDeclaration(node)) state.hoisted.push(...definitions);
    else if (definitions.length > 0) {
      const isClosed = file.text.charAt(node.end - 1) === ";" || !isOpen(state, node);
      edits.add(node.end, `${isClosed ? " " : "; "}${definitions.join(" ")}`);
    }
  }
  if (!isCell) return;
  for (const name of unpublishedVariables(state, file, published)) {
    state.hoisted.push(define(name, true));
  }
}

const isImport = ({ ts }: Lowering, node: api.Statement): boolean =>
  ts.isImportDeclaration(node) || ts.isExportDeclaration(node);

/** Whether what comes after a statement would belong to it, were there no `;`. */
const isOpen = ({ ts }: Lowering, node: api.Statement): boolean =>
  ts.isVariableStatement(node) || ts.isImportEqualsDeclaration(node);

/** Whether a statement does anything when its turn comes. */
function runs(state: Lowering, node: api.Statement): boolean {
  const { ts } = state;
  if (isImport(state, node) || ts.isFunctionDeclaration(node)) return false;
  return !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node);
}

/** The JavaScript of an import, or of an export that names another module. */
function importOrExport(state: Lowering, node: api.Statement, published: Set<string>): string {
  const { ts, imports } = state;
  const isCell = state.names !== undefined;
  if (ts.isImportDeclaration(node)) return importText(state, node, isCell ? published : undefined);
  const { moduleSpecifier, isTypeOnly, exportClause } = node as api.ExportDeclaration;
  if (moduleSpecifier === undefined || isTypeOnly) return "";
  const variable = imports.reexported(node as api.ExportDeclaration);
  const load = loadText(state, node as api.ExportDeclaration, moduleSpecifier, variable);
  return exportClause === undefined && !isCell ? `${load}; ${names.cell}.star(${variable})` : load;
}
