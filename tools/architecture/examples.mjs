// Values of the stable entry points whose doc comment has no example. That examples run is `npm test`.
import { readFileSync, existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import ts from "typescript";
import { parse, root } from "./imports.mjs";

/** The files of the stable entry points. */
function stableEntries() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([name]) => !/^\.\/(experimental|internal)\//.test(name))
    .map(([, entry]) => entry.types)
    .filter((types) => types?.startsWith("./dist/"))
    .map((types) => types.replace("./dist/", "").replace(/\.d\.ts$/, ".ts"))
    .filter((path) => !path.includes("*") && existsSync(join(root, path)));
}

const values = new Set([
  ts.SyntaxKind.FunctionDeclaration,
  ts.SyntaxKind.ClassDeclaration,
  ts.SyntaxKind.EnumDeclaration,
  ts.SyntaxKind.VariableStatement,
]);

const namesOf = (node) =>
  ts.isVariableStatement(node)
    ? node.declarationList.declarations.map((d) => d.name.text)
    : [node.name?.text];

/** Where a name that a file exports is declared, and whether that is a value with an example. */
function declaration(path, name) {
  for (const node of parse(path).statements) {
    if (ts.isExportDeclaration(node) && node.moduleSpecifier && !node.isTypeOnly) {
      const from = fileOf(path, node.moduleSpecifier.text);
      if (from === undefined) continue;
      if (!node.exportClause) {
        const found = declaration(from, name);
        if (found) return found;
      } else if (ts.isNamedExports(node.exportClause)) {
        const one = node.exportClause.elements.find((e) => !e.isTypeOnly && e.name.text === name);
        if (one) return declaration(from, (one.propertyName ?? one.name).text);
      }
    } else if (values.has(node.kind) && namesOf(node).includes(name)) {
      const comments = ts.getLeadingCommentRanges(node.getFullText(), 0) ?? [];
      const text = comments.map((c) => node.getFullText().slice(c.pos, c.end)).join("\n");
      const start = node.getFullStart() + (comments[0]?.pos ?? 0);
      const line = node.getSourceFile().getLineAndCharacterOfPosition(start).line + 1;
      return { path, name, text, line, example: /@example[\s\S]*```ts/.test(text) };
    }
  }
  return undefined;
}

function fileOf(from, specifier) {
  if (!specifier.startsWith(".")) return undefined;
  const path = normalize(join(dirname(from), specifier)).replaceAll("\\", "/");
  return path.replace(/\.js$/, ".ts");
}

/** Every name a stable entry point exports, once for each declaration. */
export function exportedValues() {
  const found = new Map();
  const add = (one) => one && found.set(`${one.path}#${one.name}`, one);
  const visit = (path) => {
    for (const node of parse(path).statements) {
      if (ts.isExportDeclaration(node) && node.moduleSpecifier && !node.isTypeOnly) {
        const from = fileOf(path, node.moduleSpecifier.text);
        if (from === undefined) continue;
        if (!node.exportClause) visit(from);
        else if (ts.isNamedExports(node.exportClause))
          for (const e of node.exportClause.elements)
            if (!e.isTypeOnly) add(declaration(from, (e.propertyName ?? e.name).text));
      } else if (values.has(node.kind)) {
        const exported = node.modifiers?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);
        if (exported) for (const name of namesOf(node)) add(declaration(path, name));
      }
    }
  };
  for (const entry of stableEntries()) visit(entry);
  return [...found.values()];
}
