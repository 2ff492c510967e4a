// What an entry point exports, from the declarations the compiler wrote: names, comments, signatures.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The entry points: `{ name: "arpo-lab/learn", path: "dist/src/api/learn.d.ts" }`. */
export function entryPoints() {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports)
    .map(([key, { types }]) => ({ name: name + key.slice(1), path: types?.slice(2) }))
    .filter(({ path }) => path !== undefined && existsSync(join(root, path)));
}

const parsed = new Map();
function parse(path) {
  if (!parsed.has(path)) {
    const text = readFileSync(join(root, path), "utf8");
    parsed.set(path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  }
  return parsed.get(path);
}

function target(from, specifier) {
  if (!specifier.startsWith(".")) return undefined;
  const path = normalize(join(dirname(from), specifier)).replaceAll("\\", "/");
  return path.replace(/\.js$/, ".d.ts");
}

const namesOf = (node) =>
  ts.isVariableStatement(node)
    ? node.declarationList.declarations.map((d) => d.name.getText())
    : node.name === undefined
      ? []
      : [node.name.text];

const kinds = new Map([
  [ts.SyntaxKind.FunctionDeclaration, "function"],
  [ts.SyntaxKind.ClassDeclaration, "class"],
  [ts.SyntaxKind.InterfaceDeclaration, "interface"],
  [ts.SyntaxKind.TypeAliasDeclaration, "type"],
  [ts.SyntaxKind.VariableStatement, "value"],
  [ts.SyntaxKind.EnumDeclaration, "enum"],
]);

/** The declarations of a name that a file exports, its own or passed on; overloads are several. */
function declarationsOf(path, name, seen = new Set()) {
  if (seen.has(path) || !existsSync(join(root, path))) return [];
  seen.add(path);
  const own = parse(path).statements.filter((n) => kinds.has(n.kind) && namesOf(n).includes(name));
  if (own.length > 0) return own;
  for (const node of parse(path).statements) {
    if (!ts.isExportDeclaration(node) && !ts.isImportDeclaration(node)) continue;
    const from = node.moduleSpecifier && target(path, node.moduleSpecifier.text);
    if (from === undefined) continue;
    const named = ts.isExportDeclaration(node)
      ? node.exportClause
      : node.importClause?.namedBindings;
    if (named === undefined) {
      const found = declarationsOf(from, name, seen);
      if (found.length > 0) return found;
    } else if (named.elements !== undefined) {
      const one = named.elements.find((e) => e.name.text === name);
      if (one) return declarationsOf(from, (one.propertyName ?? one.name).text, new Set());
    }
  }
  return [];
}

function exportedNames(path, seen = new Set()) {
  if (seen.has(path) || !existsSync(join(root, path))) return [];
  seen.add(path);
  return parse(path).statements.flatMap((node) => {
    if (ts.isExportDeclaration(node)) {
      if (node.exportClause && ts.isNamedExports(node.exportClause))
        return node.exportClause.elements.map((e) => ({
          name: e.name.text,
          type: node.isTypeOnly || e.isTypeOnly,
        }));
      const from = node.moduleSpecifier && target(path, node.moduleSpecifier.text);
      return from === undefined || node.exportClause ? [] : exportedNames(from, seen);
    }
    const exported = node.modifiers?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);
    return exported && kinds.has(node.kind) ? namesOf(node).map((name) => ({ name })) : [];
  });
}

/** A doc comment as Markdown: without its stars, its tags as headings of a kind. */
function commentOf(node) {
  const text = node.getFullText();
  const all = (ts.getLeadingCommentRanges(text, 0) ?? []).map((c) => text.slice(c.pos, c.end));
  const doc = all.filter((c) => c.startsWith("/**")).at(-1) ?? "";
  return doc
    .replace(/^\/\*\*[ \t]?|\s*\*\/$/g, "")
    .replace(/^[ \t]*\*[ \t]?/gm, "")
    .replace(/^@example\s*$/gm, "")
    .replace(/\{@link\s+([^}]+)\}/g, "`$1`")
    .trim();
}

/** The package of an export that comes from another one. */
function packageOf(path, name, seen = new Set()) {
  if (seen.has(path) || !existsSync(join(root, path))) return undefined;
  seen.add(path);
  for (const node of parse(path).statements) {
    const named = ts.isExportDeclaration(node)
      ? node.exportClause
      : ts.isImportDeclaration(node)
        ? node.importClause?.namedBindings
        : undefined;
    if (node.moduleSpecifier === undefined) continue;
    const names = named?.elements?.map((e) => e.name.text) ?? (named?.name && [named.name.text]);
    if (names !== undefined && !names.includes(name)) continue;
    const from = target(path, node.moduleSpecifier.text);
    const found = from === undefined ? node.moduleSpecifier.text : packageOf(from, name, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** One export: `{ name, kind, comment, code }`; undefined where it is internal or not to be found. */
function describe(path, name) {
  const nodes = declarationsOf(path, name);
  if (nodes.length === 0) {
    const from = packageOf(path, name);
    return from && { name, kind: "value", comment: "", code: `// ${name}: from ${from}` };
  }
  const comment = nodes.map(commentOf).find((c) => c !== "") ?? "";
  if (comment.includes("@internal")) return undefined;
  return { name, kind: kinds.get(nodes[0].kind), comment, code: codeOf(nodes), nodes };
}

/** The tables that an interface's options are stated in: `extends Given<typeof table>`. */
const tablesOf = (node) =>
  (ts.isInterfaceDeclaration(node) ? (node.heritageClauses ?? []) : [])
    .flatMap(({ types }) => types)
    .filter(({ expression }) => expression.getText() === "Given");

/** An interface with the options of its tables written out, as it would stand without them. */
function writtenOut(node) {
  const tables = tablesOf(node);
  if (tables.length === 0) return node.getText();
  const file = node.getSourceFile().fileName;
  const stated = tables.flatMap(({ typeArguments: [query] }) => {
    const [statement] = declarationsOf(file, query.exprName.text);
    return statement.declarationList.declarations[0].type.members.map((member) => {
      const comment = member.getFullText().slice(0, member.getLeadingTriviaWidth()).trim();
      const [given] = member.type.typeArguments;
      return `    ${comment}\n    ${member.name.getText()}?: ${given.getText()};`;
    });
  });
  const own = node.members.map((member) => `    ${member.getFullText().trim()}`);
  const others = node.heritageClauses
    .flatMap(({ types }) => types)
    .filter((one) => !tables.includes(one) && one.getText() !== "Named");
  const head = node.getText().slice(0, node.heritageClauses.pos - node.getStart());
  const parents =
    others.length > 0 ? ` extends ${others.map((one) => one.getText()).join(", ")}` : "";
  return `${head.trimEnd().replace(/ extends$/, "")}${parents} {\n${[...stated, ...own].join("\n")}\n}`;
}

const codeOf = (nodes) =>
  nodes
    .map((node) => writtenOut(node).replace(/^(export |declare )+/, ""))
    .join("\n")
    .replace(/^( {4})+/gm, (indent) => " ".repeat(indent.length / 2))
    .replace(/^\s*#private;\n/gm, "");

/** What a declaration is made of by name: interfaces it extends, functions and lists behind a `typeof`. */
function parents(node, found = new Set()) {
  if (ts.isExpressionWithTypeArguments(node) && node.expression.getText() === "Given") return found;
  const name = ts.isExpressionWithTypeArguments(node)
    ? node.expression
    : ts.isTypeQueryNode(node)
      ? node.exprName
      : undefined;
  if (name !== undefined && ts.isIdentifier(name)) found.add(name.text);
  ts.forEachChild(node, (child) => void parents(child, found));
  return found;
}

/** The declarations that make up those of some exports and that none of them is: `{ name, code }`. */
export function declarationsBehind(exports) {
  const seen = new Set(exports.flatMap((one) => one.nodes ?? []));
  const found = [];
  const waiting = [...seen];
  while (waiting.length > 0) {
    const node = waiting.pop();
    for (const name of parents(node)) {
      const nodes = declarationsOf(node.getSourceFile().fileName, name).filter((n) => !seen.has(n));
      if (nodes.length === 0) continue;
      for (const one of nodes) seen.add(one);
      waiting.push(...nodes);
      found.push({ name, code: codeOf(nodes) });
    }
  }
  return found.sort((a, b) => a.name.localeCompare(b.name, "en") || (a.code < b.code ? -1 : 1));
}

const isType = (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);

/** Everything an entry point exports, by name. */
export function exportsOf(path) {
  const names = new Map(exportedNames(path).map(({ name, type }) => [name, type]));
  return [...names]
    .sort(([a], [b]) => a.localeCompare(b, "en"))
    .map(([name, typeOnly]) => {
      const one = describe(path, name);
      const values = one?.nodes?.some((node) => !isType(node)) ?? true;
      return one && { ...one, runTime: !typeOnly && values };
    })
    .filter((one) => one !== undefined);
}
