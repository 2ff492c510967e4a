import { type FileStat, statIfThereSync } from "#platform/files";
import { packagePath } from "#platform/modules";
import { resolve } from "#platform/path";
import type { api, TypeScript } from "./typescript.js";

/** The modules that a file names: imports, re-exports, literal `import()`, `require` and import types. */
export function specifiers(ts: TypeScript, file: api.SourceFile): api.StringLiteralLike[] {
  const found: api.StringLiteralLike[] = [];
  const add = (node: api.Node | undefined): void => {
    if (node !== undefined && ts.isStringLiteralLike(node)) found.push(node);
  };
  const visit = (node: api.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) add(node.expression);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal);
    } else if (ts.isCallExpression(node)) {
      const callee = node.expression;
      const isImport = callee.kind === ts.SyntaxKind.ImportKeyword;
      if (isImport || (ts.isIdentifier(callee) && callee.text === "require")) {
        add(node.arguments[0]);
      }
    }
    ts.forEachChild(node, visit);
  };
  // Most cells import nothing; a look at the text is cheaper than one at every node.
  if (/\b(import|from|require)\b/.test(file.text)) visit(file);
  return found;
}

/** What is at a path; undefined where nothing is, or where a file stands in its way. */
export function statOf(path: string): FileStat | undefined {
  try {
    return statIfThereSync(path);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whether there is a file of this name. */
export function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** The folder of this package's package.json. */
export const packageFolder: string = resolve(packagePath("."));
