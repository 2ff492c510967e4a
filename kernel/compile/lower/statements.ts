// The top level of a file: imports go first, declarations are published as they happen, and the last
// expression of a cell becomes its value.
import { importText, loadText } from "./import-text.js";
import { type Lowering, rawStatement } from "./lowering.js";
import type { api } from "../check/typescript.js";

type VisitExpression = <T extends api.Node>(node: T) => api.Node;

export function lowerStatements(
  state: Lowering,
  file: api.SourceFile,
  visit: VisitExpression,
): api.Statement[] {
  const { ts } = state;
  const isCell = state.names !== undefined;
  const imports: api.Statement[] = [];
  const out: api.Statement[] = [];
  const published = new Set<string>();
  const last = isCell ? lastExpression(state, file) : undefined;

  const publish = (name: string, writable: boolean): string | undefined => {
    if (!isCell) return undefined;
    published.add(name);
    const setter = writable ? `, (__v) => { ${name} = __v; }` : "";
    return `__lab.define(${JSON.stringify(name)}, () => ${name}${setter})`;
  };
  const after = (names: readonly string[], writable: boolean): void => {
    for (const name of names) {
      const text = publish(name, writable);
      if (text !== undefined) out.push(rawStatement(state, text));
    }
  };
  const load = (node: api.ExportDeclaration, specifier: api.Expression, variable: string): void => {
    imports.push(rawStatement(state, loadText(state, node, specifier, variable), node));
  };

  for (const node of file.statements) {
    if (ts.isImportDeclaration(node)) {
      const text = importText(state, node, isCell ? published : undefined);
      if (text !== "") imports.push(rawStatement(state, text, node));
      continue;
    }
    if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      if (node.isTypeOnly) continue;
      const from = node.moduleReference.expression.getText(file);
      out.push(rawStatement(state, `const ${node.name.text} = __lab.require(${from})`, node));
      after([node.name.text], false);
      continue;
    }
    if (ts.isExportDeclaration(node)) {
      const { moduleSpecifier } = node;
      if (moduleSpecifier !== undefined && !node.isTypeOnly) {
        load(node, moduleSpecifier, state.imports.reexported(node));
        const clause = node.exportClause;
        if (clause === undefined && !isCell) {
          imports.push(rawStatement(state, `__lab.star(${state.imports.reexported(node)})`));
        }
      }
      continue;
    }
    if (ts.isExportAssignment(node)) {
      out.push(exportAssignment(state, node, visit, node === last));
      continue;
    }
    if (node === last) {
      const { factory } = ts;
      // `(0, …)`: a function is not to be named after the property
      const unnamed = factory.createComma(
        factory.createNumericLiteral(0),
        visit((node as api.ExpressionStatement).expression) as api.Expression,
      );
      const value = factory.createObjectLiteralExpression([
        factory.createPropertyAssignment("value", unnamed),
      ]);
      const assign = ts.factory.createAssignment(ts.factory.createIdentifier("__value"), value);
      const statement = ts.factory.createExpressionStatement(assign);
      out.push(ts.setTextRange(statement, node));
      continue;
    }
    const lowered = withoutExport(state, visit(node) as api.Statement);
    const names = valueNames(state, node);
    if (ts.isFunctionDeclaration(node)) {
      for (const name of names) {
        const text = publish(name, true);
        if (text !== undefined) state.hoisted.push(`${text};`);
      }
      out.push(lowered);
      continue;
    }
    out.push(lowered);
    after(names, isWritable(state, node));
  }
  for (const name of isCell ? unpublishedVariables(state, file, published) : []) {
    const text = publish(name, true);
    if (text !== undefined) state.hoisted.push(`${text};`);
  }
  return [...imports, ...out];
}

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

function exportAssignment(
  state: Lowering,
  node: api.ExportAssignment,
  visit: VisitExpression,
  isLast: boolean,
): api.Statement {
  const { factory, setTextRange, NodeFlags } = state.ts;
  const value = visit(node.expression) as api.Expression;
  if (state.names === undefined) {
    const declaration = factory.createVariableDeclaration("__default", undefined, undefined, value);
    const list = factory.createVariableDeclarationList([declaration], NodeFlags.Const);
    return setTextRange(factory.createVariableStatement(undefined, list), node);
  }
  const box = factory.createObjectLiteralExpression([
    factory.createPropertyAssignment("value", value),
  ]);
  const assign = factory.createAssignment(factory.createIdentifier("__value"), box);
  return setTextRange(factory.createExpressionStatement(isLast ? assign : value), node);
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
    const instantiated = (state.ts as unknown as ModuleStates).getModuleInstanceState(node) !== 0;
    return instantiated && ts.isIdentifier(node.name) ? [node.name.text] : [];
  }
  if (ts.isImportEqualsDeclaration(node) && !node.isTypeOnly) {
    return state.imports.isValue(state.checker.getSymbolAtLocation(node.name))
      ? [node.name.text]
      : [];
  }
  return [];
}

interface ModuleStates {
  getModuleInstanceState(node: api.ModuleDeclaration): number;
}

function bindingNames(state: Lowering, name: api.BindingName): string[] {
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
  return ts.isClassDeclaration(node);
}

/** A declaration without `export` and `default`; an anonymous default gets a name. */
function withoutExport(state: Lowering, node: api.Statement): api.Statement {
  const { ts } = state;
  const { factory } = ts;
  if (!ts.canHaveModifiers(node) || node.modifiers === undefined) return node;
  const isExport = (modifier: api.ModifierLike): boolean =>
    modifier.kind === ts.SyntaxKind.ExportKeyword || modifier.kind === ts.SyntaxKind.DefaultKeyword;
  if (!node.modifiers.some(isExport)) return node;
  const modifiers = node.modifiers.filter((modifier) => !isExport(modifier));
  const plain = modifiers.filter(ts.isModifier);
  if (ts.isVariableStatement(node)) {
    return factory.updateVariableStatement(node, plain, node.declarationList);
  }
  if (ts.isFunctionDeclaration(node)) {
    const { asteriskToken, typeParameters, parameters, type, body } = node;
    const name = node.name ?? factory.createIdentifier("__default");
    return factory.updateFunctionDeclaration(
      node,
      plain,
      asteriskToken,
      name,
      typeParameters,
      parameters,
      type,
      body,
    );
  }
  if (ts.isClassDeclaration(node)) {
    const name = node.name ?? factory.createIdentifier("__default");
    const { typeParameters, heritageClauses, members } = node;
    return factory.updateClassDeclaration(
      node,
      modifiers,
      name,
      typeParameters,
      heritageClauses,
      members,
    );
  }
  if (ts.isEnumDeclaration(node)) {
    return factory.updateEnumDeclaration(node, plain, node.name, node.members);
  }
  if (ts.isModuleDeclaration(node)) {
    return factory.updateModuleDeclaration(node, plain, node.name, node.body);
  }
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
    return factory.createNotEmittedStatement(node);
  }
  if (ts.isImportEqualsDeclaration(node)) {
    const { isTypeOnly, name, moduleReference } = node;
    return factory.updateImportEqualsDeclaration(node, plain, isTypeOnly, name, moduleReference);
  }
  return node;
}
