import type { api, TypeScript } from "./typescript.js";

/** The names that a text declares at its top level, types among them; found without checking it. */
export function declaredNames(ts: TypeScript, text: string): string[] {
  const names: string[] = [];
  const add = (name: api.BindingName): void => {
    if (ts.isIdentifier(name)) names.push(name.text);
    else for (const part of name.elements) if (!ts.isOmittedExpression(part)) add(part.name);
  };
  const file = ts.createSourceFile("cell.ts", text, ts.ScriptTarget.ESNext, false);
  for (const statement of file.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations) add(name);
    } else if (ts.isImportDeclaration(statement)) {
      const { name, namedBindings } = statement.importClause ?? {};
      if (name !== undefined) add(name);
      if (namedBindings === undefined) continue;
      if (ts.isNamespaceImport(namedBindings)) add(namedBindings.name);
      else for (const one of namedBindings.elements) add(one.name);
    } else if (ts.isDeclarationStatement(statement) && statement.name !== undefined) {
      if (ts.isIdentifier(statement.name)) add(statement.name);
    }
  }
  return names;
}
