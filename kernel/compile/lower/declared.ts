// What the statements at the top of a file declare, and which of them is a cell's value.
import type { Lowering } from "./lowering.js";
import type { api } from "../check/typescript.js";

/** `var` inside of a block or a loop belongs to the whole cell. */
export function unpublishedVariables(
  state: Lowering,
  file: api.SourceFile,
  published: ReadonlySet<string>,
): string[] {
  const { locals } = file as unknown as { locals?: Map<string, api.Symbol> };
  const names: string[] = [];
  for (const [key, symbol] of locals ?? []) {
    const name = state.ts.unescapeLeadingUnderscores(key as api.__String);
    const isVar = symbol.flags & state.ts.SymbolFlags.FunctionScopedVariable;
    const declared = symbol.valueDeclaration;
    if (!isVar || published.has(name) || declared === undefined) continue;
    if (!isAmbient(state, declared)) names.push(name);
  }
  return names;
}

function isAmbient(state: Lowering, node: api.Node): boolean {
  const { ts } = state;
  return (ts.getCombinedModifierFlags(node as api.Declaration) & ts.ModifierFlags.Ambient) !== 0;
}

/** The statement whose value the cell shows: its last one that runs, when that is an expression. */
export function lastExpression(state: Lowering, file: api.SourceFile): api.Statement | undefined {
  const { ts } = state;
  for (const node of [...file.statements].reverse()) {
    if (ts.isExportDeclaration(node) || ts.isEmptyStatement(node)) continue;
    if (ts.isExportAssignment(node)) return node;
    return ts.isExpressionStatement(node) ? node : undefined;
  }
  return undefined;
}

/** The names that a top-level statement declares and that exist at run time. */
export function valueNames(state: Lowering, node: api.Statement): string[] {
  const { ts } = state;
  if (ts.canHaveModifiers(node) && isAmbient(state, node)) return [];
  if (ts.isVariableStatement(node)) {
    return node.declarationList.declarations.flatMap(({ name }) => bindingNames(state, name));
  }
  if (ts.isFunctionDeclaration(node)) {
    return node.body === undefined ? [] : [node.name?.text ?? "__default"];
  }
  if (ts.isClassDeclaration(node)) return [node.name?.text ?? "__default"];
  if (ts.isEnumDeclaration(node)) return [node.name.text];
  if (ts.isModuleDeclaration(node)) {
    const instantiated = ts.getModuleInstanceState(node) !== 0;
    return instantiated && ts.isIdentifier(node.name) ? [node.name.text] : [];
  }
  if (ts.isImportEqualsDeclaration(node) && !node.isTypeOnly) {
    return state.imports.isValue(state.checker.getSymbolAtLocation(node.name))
      ? [node.name.text]
      : [];
  }
  return [];
}

export function bindingNames(state: Lowering, name: api.BindingName): string[] {
  if (state.ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) =>
    state.ts.isOmittedExpression(element) ? [] : bindingNames(state, element.name),
  );
}

export function isWritable(state: Lowering, node: api.Statement): boolean {
  const { ts } = state;
  if (ts.isVariableStatement(node)) {
    const kind = node.declarationList.flags & ts.NodeFlags.BlockScoped;
    return kind === 0 || kind === ts.NodeFlags.Let;
  }
  return ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node);
}
