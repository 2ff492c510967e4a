// What JavaScript refuses before anything runs. The compiled text is more tolerant than the cell: there
// `delete q` deletes a property, and `for (;;) let x` has braces. So the cell's own JavaScript is shown to
// the engine as well, in a function, and what a function may and a module may not is looked for here.
import { scriptProblem } from "#kernel-platform/evaluate";
import { originalPlace } from "#kernel-platform/source-map";
import { sourceOf } from "../../contract/column-map.js";
import { bindingNames, valueNames } from "./declared.js";
import type { Changed } from "./edits.js";
import type { Lowering } from "./lowering.js";
import type { api } from "../check/typescript.js";

/** Why a text is no module, and where: an offset in it. */
export interface EarlyError {
  message: string;
  start: number;
}

/** Declares nothing, and V8 reads what is inside without compiling it. */
const wrapped = (text: string): string => `"use strict"; const f = async () => {\n${text}\n}`;

/** `plain`: the file's JavaScript; `map`: where that came from TypeScript's emitter. */
export function earlyError(
  state: Lowering,
  plain: Changed,
  map: string | undefined,
): EarlyError | undefined {
  const found = ofModules(state);
  if (found !== undefined) return found;
  const problem = scriptProblem(wrapped(plain.text));
  if (problem === undefined) return undefined;
  const { message, place } = problem;
  if (place === undefined) return { message, start: 0 };
  const { file } = state;
  const origin =
    map === undefined
      ? sourceOf(plain, place.line, place.column)
      : originalPlace(map, place.line, place.column);
  if (origin === undefined) return { message, start: 0 };
  const line = map === undefined ? origin.line - 1 : origin.line;
  const lines = file.getLineStarts();
  const start = (lines[Math.min(line, lines.length - 1)] ?? 0) + origin.column;
  return { message, start: Math.min(start, file.text.length) };
}

/** `return` outside of functions, `await` as a name, broken text as the name of an export, functions declared twice, exports of nothing and of one name twice. */
function ofModules(state: Lowering): EarlyError | undefined {
  const { ts, file, checker } = state;
  const at = (node: api.Node, message: string): EarlyError => ({
    message,
    start: node.getStart(file),
  });
  const isProperty = ({ parent, pos }: api.Node): boolean =>
    (ts.isPropertyAccessExpression(parent) || ts.isQualifiedName(parent)) && pos > parent.pos;
  const named = (node: api.Node): boolean =>
    ts.isPropertyAssignment(node.parent) ||
    ts.isClassElement(node.parent) ||
    ts.isTypeElement(node.parent)
      ? node.parent.name === node
      : isProperty(node) || ts.isImportOrExportSpecifier(node.parent);
  const isUsingNothing = ({ parent, initializer }: api.VariableDeclaration): boolean =>
    (parent.flags & ts.NodeFlags.Using & ~ts.NodeFlags.Const) !== 0 &&
    initializer === undefined &&
    !ts.isForOfStatement(parent.parent);
  const isExportName = ({ parent }: api.Node): boolean =>
    ts.isImportOrExportSpecifier(parent) || ts.isNamespaceExport(parent);
  const look = (node: api.Node, inFunction: boolean): EarlyError | undefined => {
    if (ts.isTypeNode(node)) return undefined;
    if (ts.isVariableDeclaration(node) && isUsingNothing(node)) {
      return at(node, "Missing initializer in using declaration");
    }
    if (ts.isStringLiteral(node) && isExportName(node) && /\p{Surrogate}/u.test(node.text)) {
      return at(node, "Invalid module export name: contains unpaired surrogate");
    }
    if (ts.isReturnStatement(node) && !inFunction) return at(node, "Illegal return statement");
    if (ts.isIdentifier(node) && node.text === "await" && !named(node)) {
      return at(node, "Unexpected reserved word");
    }
    const inside =
      inFunction || (ts.isFunctionLike(node) && !ts.isClassStaticBlockDeclaration(node));
    return ts.forEachChild(node, (child) => look(child, inside));
  };
  return look(file, false) ?? twice(state) ?? exportsNothing() ?? exportsTwice();

  function exportsNothing(): EarlyError | undefined {
    for (const node of file.statements) {
      if (!ts.isExportDeclaration(node) || node.moduleSpecifier !== undefined) continue;
      const clause = node.exportClause;
      if (clause === undefined || !ts.isNamedExports(clause)) continue;
      for (const element of clause.elements) {
        const { text } = element.propertyName ?? element.name;
        const { declarations = [] } = checker.getExportSpecifierLocalTargetSymbol(element) ?? {};
        // What only the engine has, such as Number, is of no module.
        if (declarations.some((one) => !one.getSourceFile().isDeclarationFile)) continue;
        return at(element, `Export '${text}' is not defined in module`);
      }
    }
    return undefined;
  }

  function exportsTwice(): EarlyError | undefined {
    const seen = new Set<string>();
    for (const node of file.statements) {
      for (const [name, place] of exportedNames(state, node)) {
        if (seen.has(name)) return at(place, `Duplicate export of '${name}'`);
        seen.add(name);
      }
    }
    return undefined;
  }
}

/** The names that a statement exports, and where they stand. */
function exportedNames(state: Lowering, node: api.Statement): [string, api.Node][] {
  const { ts } = state;
  if (ts.isExportAssignment(node)) return node.isExportEquals ? [] : [["default", node]];
  if (ts.isExportDeclaration(node)) {
    const clause = node.exportClause;
    if (node.isTypeOnly || clause === undefined) return [];
    if (ts.isNamespaceExport(clause)) return [[clause.name.text, clause]];
    const values = clause.elements.filter(({ isTypeOnly }) => !isTypeOnly);
    return values.map((element) => [element.name.text, element]);
  }
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  const has = (kind: api.SyntaxKind): boolean => modifiers?.some((m) => m.kind === kind) ?? false;
  if (!has(ts.SyntaxKind.ExportKeyword)) return [];
  const names = valueNames(state, node);
  // Overloads and interfaces declare nothing.
  if (has(ts.SyntaxKind.DefaultKeyword)) return names.length > 0 ? [["default", node]] : [];
  // An enum or a namespace may be continued; functions and classes that stand twice are refused elsewhere.
  if (!ts.isVariableStatement(node) && !ts.isFunctionDeclaration(node)) return [];
  return names.map((name) => [name, node]);
}

/** What `var` declares anywhere in a file outside of functions. */
function variableNames(state: Lowering): string[] {
  const { ts, file } = state;
  const names: string[] = [];
  const look = (node: api.Node): void => {
    if (ts.isFunctionLike(node) || ts.isClassStaticBlockDeclaration(node)) return;
    if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) === 0) {
      for (const { name } of node.declarations) names.push(...bindingNames(state, name));
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return names;
}

/** Functions at the top of a module are like `let`, those of a function like `var`. */
function twice(state: Lowering): EarlyError | undefined {
  const { ts, file } = state;
  const seen = new Set(variableNames(state));
  for (const node of file.statements) {
    if (!ts.isFunctionDeclaration(node)) continue;
    for (const name of valueNames(state, node)) {
      const message = `Identifier '${name}' has already been declared`;
      if (seen.has(name)) return { message, start: node.getStart(file) };
      seen.add(name);
    }
  }
  return undefined;
}
