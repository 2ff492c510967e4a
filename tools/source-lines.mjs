// Which line of the library computes what, for the explainer: every statement of `src/learn/losses/base` and
// of the plain estimators under the name of its function and of what it sets: `cispo.tensors.weight`,
// `clippedOutcome.return`. Where a function sets a name several times, the last one counts, a variable
// before a property. Kept are those that the losses' formulas or the explainer name.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

const { SyntaxKind } = ts;

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (/(?<!\.test)\.ts$/.test(entry.name)) yield path;
  }
}

const nameOf = (node) => node.name?.text ?? node.name?.getText();
const isFunction = (node) =>
  node !== undefined && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));

/** What a node sets: a variable, a property, or what a function returns. */
function setBy(node) {
  if (ts.isVariableDeclaration(node)) return nameOf(node);
  if (ts.isPropertyAssignment(node)) return nameOf(node);
  if (ts.isReturnStatement(node) && node.expression) return "return";
  if (!ts.isBinaryExpression(node)) return undefined;
  const { kind } = node.operatorToken;
  if (kind < SyntaxKind.FirstAssignment || kind > SyntaxKind.LastAssignment) return undefined;
  const names = [...node.left.getText().matchAll(/[a-z]\w*/gi)].map(([name]) => name);
  return ts.isElementAccessExpression(node.left) ? names[0] : names.at(-1);
}

/** The lines of one file, by name. */
function linesOf(path, file, quoted, found) {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const note = (name, node) => {
    if (!quoted.has(name) || (ts.isPropertyAssignment(node) && name in found)) return;
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found[name] = { file, line: line + 1, code: node.getText().replace(/\s+/g, " ") };
  };
  const visit = (node, path) => {
    const name = setBy(node);
    if (name !== undefined && path.length > 0) {
      const whole = ts.isVariableDeclaration(node) ? node.parent.parent : node;
      note([...path, name].join("."), whole.kind === SyntaxKind.VariableStatement ? whole : node);
    }
    const named =
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ((ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) &&
        (isFunction(node.initializer) || ts.isObjectLiteralExpression(node.initializer ?? node)));
    const below = named ? [...path, nameOf(node)] : path;
    if (isFunction(node.initializer) && !ts.isBlock(node.initializer.body)) {
      note([...below, "return"].join("."), node.initializer.body);
    }
    ts.forEachChild(node, (child) => visit(child, below));
  };
  visit(source, []);
}

/** Writes the table as a module. */
export function writeSourceLines(root, out) {
  const all = (...folders) => folders.flatMap((folder) => [...sources(join(root, folder))]);
  const read = all(
    ...["src/learn/losses/base", "src/learn/estimators/base", "src/learn/estimators/plain"],
  );
  const names = read
    .concat(all("src/view/explain"))
    .flatMap((path) =>
      [...readFileSync(path, "utf8").matchAll(/"([a-z]\w*(?:\.[\w-]+)+)"/gi)].map(
        ([, name]) => name,
      ),
    );
  const found = {};
  for (const path of read) {
    linesOf(path, relative(root, path).replaceAll("\\", "/"), new Set(names), found);
  }
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `export const sourceLines = ${JSON.stringify(found)};\n`);
  writeFileSync(
    out.replace(/\.js$/, ".d.ts"),
    "/** Lines of the library by function and what they set. */\nexport declare const sourceLines: Readonly<Record<string, { file: string; line: number; code: string } | undefined>>;\n",
  );
}
