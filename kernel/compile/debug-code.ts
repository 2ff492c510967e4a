// What a person types into the debugger, to JavaScript that means the same where the program stands.
import type { DebugCode } from "../contract/debug.js";
import type { api, BoundFile } from "./check/typescript.js";
import type { World } from "./check/world.js";
import { importedBindings, ImportTable } from "./lower/imports.js";

/** `path`: the local file that the code is evaluated in; undefined in a cell. */
export function debugCode(world: World, text: string, path: string | undefined): DebugCode {
  const { ts } = world;
  let inner = text.trim();
  while (inner.endsWith(";")) inner = inner.slice(0, -1);
  const wrapped = parse(world, `(${inner}\n)`);
  const isExpression = inner !== "" && problemOf(wrapped) === undefined && isOne(world, wrapped);
  const file = isExpression ? wrapped : parse(world, text);
  if (waits(world, file)) {
    const why = "while code stands nothing can be waited for; evaluate the promise itself";
    return { ok: false, message: `Cannot await here: ${why}` };
  }
  const problem = problemOf(file);
  if (problem !== undefined) {
    return { ok: false, message: ts.flattenDiagnosticMessageText(problem.messageText, "\n") };
  }
  const imported = path === undefined ? new Map<string, string>() : importsOf(world, path);
  const names = freeNames(world, file);
  const replaced = withImports(world, file, names, imported);
  const { outputText } = ts.transpileModule(replaced, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const js = outputText.replace(/^"use strict";\n/, "").trim();
  return {
    ok: true,
    js: isExpression ? `(${js.replace(/;$/, "")}\n)` : js,
    isExpression,
    names: [...new Set(names.map(({ text: name }) => name))].filter((name) => !imported.has(name)),
  };
}

function parse({ ts }: World, text: string): api.SourceFile {
  return ts.createSourceFile("debug.ts", text, ts.ScriptTarget.ES2022, true);
}

function problemOf(file: api.SourceFile): api.Diagnostic | undefined {
  return (file as BoundFile).parseDiagnostics[0];
}

/** `await` outside of a function; to the parser of a script that is a name of its own. */
function waits({ ts }: World, file: api.SourceFile): boolean {
  const look = (node: api.Node): boolean =>
    ts.isAwaitExpression(node) ||
    (ts.isIdentifier(node) && node.text === "await") ||
    (!ts.isFunctionLike(node) && ts.forEachChild(node, look) === true);
  return look(file);
}

/** `(a) ; (b)` is no expression, although its halves are. */
function isOne({ ts }: World, { statements }: api.SourceFile): boolean {
  const [only] = statements;
  return (
    statements.length === 1 &&
    only !== undefined &&
    ts.isExpressionStatement(only) &&
    ts.isParenthesizedExpression(only.expression)
  );
}

/** Names that are read or written, and not declared by the text itself. */
function freeNames({ ts }: World, file: api.SourceFile): api.Identifier[] {
  const declared = new Set<string>();
  const used: api.Identifier[] = [];
  const look = (node: api.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node;
      const isProperty = ts.isPropertyAccessExpression(parent) && parent.name === node;
      const declares =
        ts.isVariableDeclaration(parent) || ts.isParameter(parent) || ts.isBindingElement(parent);
      if (declares && parent.name === node) declared.add(node.text);
      else if (
        !isProperty &&
        (ts.isShorthandPropertyAssignment(parent) || ts.isExpressionNode(node))
      )
        used.push(node);
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return used.filter(({ text }) => !declared.has(text));
}

/** What the names that a file imports are called in its script. */
function importsOf(world: World, path: string): Map<string, string> {
  const found = new Map<string, string>();
  const file = world.program.getSourceFile(path);
  if (file === undefined) return found;
  const table = new ImportTable(world, file);
  for (const statement of file.statements) {
    if (!world.ts.isImportDeclaration(statement)) continue;
    for (const { local } of importedBindings(world, statement)) {
      const symbol = world.checker.getSymbolAtLocation(local);
      const access = symbol && table.access(symbol);
      if (access !== undefined) found.set(local.text, access);
    }
  }
  return found;
}

function withImports(
  { ts }: World,
  file: api.SourceFile,
  names: readonly api.Identifier[],
  imported: ReadonlyMap<string, string>,
): string {
  let { text } = file;
  for (const node of [...names].reverse()) {
    const access = imported.get(node.text);
    if (access === undefined) continue;
    const label = ts.isShorthandPropertyAssignment(node.parent) ? `${node.text}: ` : "";
    text = `${text.slice(0, node.getStart(file))}${label}${access}${text.slice(node.end)}`;
  }
  return text;
}
