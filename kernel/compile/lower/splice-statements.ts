import type { Edits } from "./edits.js";
import { importText } from "./import-text.js";
import type { Lowering } from "./lowering.js";
import { isWritable, lastExpression, unpublishedVariables, valueNames } from "./statements.js";
import type { api } from "../check/typescript.js";

/** Visits a node; true when it cannot be compiled this way. */
export type Visit = (node: api.Node) => true | undefined;

/** The top level of a cell, as `lowerStatements` has it. False when it cannot be done in the text. */
export function spliceStatements(state: Lowering, edits: Edits, visit: Visit): boolean {
  const { ts, file } = state;
  const published = new Set<string>();
  const hoisted: string[] = [];
  const last = lastExpression(state, file);
  const define = (name: string, writable: boolean): string => {
    published.add(name);
    const setter = writable ? `, (__v) => { ${name} = __v; }` : "";
    return `__lab.define(${JSON.stringify(name)}, () => ${name}${setter});`;
  };
  let imports = true;
  for (const node of file.statements) {
    if (ts.isImportDeclaration(node)) {
      // Modules are loaded before anything runs.
      if (!imports) return false;
      edits.replace(node.getStart(file), node.end, `${importText(state, node, published)};`);
      continue;
    }
    if (ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier !== undefined) return false;
      edits.replace(node.getStart(file), node.end, ";");
      continue;
    }
    imports = false;
    if (node === last) {
      if (!ts.isExpressionStatement(node)) return false;
      const { expression } = node;
      edits.insert(expression.getStart(file), "__value = { value: (0, ");
      if (visit(expression)) return false;
      edits.insert(expression.end, ") };");
      continue;
    }
    if (ts.isVariableStatement(node))
      for (const word of node.modifiers ?? []) {
        if (word.kind === ts.SyntaxKind.ExportKeyword) edits.remove(word.getStart(file), word.end);
      }
    if (visit(node)) return false;
    const names = valueNames(state, node);
    if (ts.isFunctionDeclaration(node)) hoisted.push(...names.map((name) => define(name, true)));
    else
      for (const name of names) edits.insert(node.end, ` ${define(name, isWritable(state, node))}`);
  }
  for (const name of unpublishedVariables(state, file, published)) hoisted.push(define(name, true));
  state.hoisted.push(...hoisted);
  return true;
}
