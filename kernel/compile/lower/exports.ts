import type { Lowering } from "./lowering.js";
import { member } from "./member.js";
import { valueNames } from "./declared.js";
import type { api } from "../check/typescript.js";

/** The call that publishes what a module exports, before anything of it runs. */
export function exportTable(state: Lowering): string {
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
  return `__lab.exports({ ${table.join(", ")} });`;
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
