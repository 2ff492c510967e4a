// The import graph, read from the sources. The other checks and the diagram use it.
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { sourceRoots } from "./source-roots.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every TypeScript file of the source roots: tests and their helpers too where asked. */
export function sources({ tests = false } = {}) {
  const all = (tests ? [...sourceRoots, "tests"] : sourceRoots).filter((folder) =>
    existsSync(join(root, folder)),
  );
  return all
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) =>
        join(folder, name).replaceAll("\\", "/"),
      ),
    )
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .filter((path) => !/node_modules|^kernel\/server\/page\//.test(path))
    .filter((path) => tests || !/\.test\.ts$|\/testing\//.test(path))
    .sort();
}

/** A file as TypeScript's tree, with parents. */
export function parse(path) {
  const text = readFileSync(join(root, path), "utf8");
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** The file that an import names: `#platform/X` stands for Node's file of that name. */
function fileOf(from, specifier) {
  if (specifier.startsWith("#platform/"))
    return `common/platform/node/${specifier.slice("#platform/".length)}.ts`;
  if (specifier.startsWith("#kernel-platform/"))
    return `kernel/node/${specifier.slice("#kernel-platform/".length)}.ts`;
  if (!specifier.startsWith(".")) return undefined;
  return normalize(join(dirname(from), specifier))
    .replaceAll("\\", "/")
    .replace(/\.js$/, ".ts");
}

/** Every import of another file of the package, types and lazy ones included: path -> paths. */
export function importGraph(files = sources()) {
  const known = new Set(files);
  const graph = new Map();
  for (const path of files) {
    const found = new Set();
    const add = (node) => {
      if (!node || !ts.isStringLiteral(node)) return;
      const target = fileOf(path, node.text);
      if (known.has(target)) found.add(target);
    };
    const visit = (node) => {
      if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
      else if (ts.isImportTypeNode(node)) add(node.argument.literal);
      else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
        add(node.arguments[0]);
      ts.forEachChild(node, visit);
    };
    visit(parse(path));
    graph.set(path, [...found].sort());
  }
  return graph;
}
