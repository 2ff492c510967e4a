// What `splice` makes of a cell is what TypeScript's transformers and printer make of it, apart from
// parentheses, white space and comments.
import { equal } from "node:assert/strict";
import { ImportTable } from "../imports.js";
import { lower } from "../lower.js";
import type { Lowering } from "../lowering.js";
import { SessionNames } from "../scope.js";
import { splice } from "../splice.js";
import type { api } from "../../check/typescript.js";
import { World } from "../../check/world.js";

const world = new World(process.cwd(), {});
world.ensure();
const { ts } = world;
const names = new SessionNames(ts);

/** Earlier cells, whose names others use. */
const earlier = `
let x = 1; let y: any; let f: any; let tag: any; class Base<T = any> { v: T }
const enum C { One = 1, Two = -2 } interface Shape { side: number }
`;
for (const [key, symbol] of world.bind("/cells/0.ts", earlier, false).locals ?? []) {
  names.set(key, symbol, (each) => each.flags);
}

const bind = (text: string, javascript: boolean): ReturnType<World["bind"]> => {
  const file = world.bind("/cells/1.ts", text, javascript);
  (file as { parent: api.Node }).parent = names.node;
  return file;
};

function syntaxErrorOf(text: string, kind: api.ScriptKind): unknown {
  const file = ts.createSourceFile("a.ts", text, ts.ScriptTarget.ES2022, true, kind);
  const { parseDiagnostics } = file as unknown as { parseDiagnostics: api.Diagnostic[] };
  return parseDiagnostics[0]?.messageText;
}

function stateOf(text: string, javascript: boolean): Lowering {
  const file = bind(text, javascript) as unknown as api.SourceFile;
  const imports = new ImportTable(world, file);
  const rest = { names, late: javascript, imports, refs: new Set<string>(), hoisted: [] };
  return { ts, checker: world.checker, file, ...rest };
}

function compile(text: string, javascript: boolean, keepsText: boolean): string {
  Object.defineProperty(world, "keepsText", { value: keepsText, configurable: true });
  const file = bind(text, javascript);
  return lower({ world, file, source: "1.ts", names, late: javascript, enter: "__scope" }).js;
}

/** The tree of a text: what it means, without parentheses, white space and comments. */
function canonical(js: string): string {
  equal(syntaxErrorOf(js, ts.ScriptKind.JS), undefined, js);
  const file = ts.createSourceFile("a.js", js, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const write = (node: api.Node): string => {
    if (ts.isEmptyStatement(node) || ts.isSemicolonClassElement(node)) return "";
    if (ts.isParenthesizedExpression(node)) return write(node.expression);
    const { operator = "" } = node as api.PrefixUnaryExpression;
    const flags = node.flags & ts.NodeFlags.BlockScoped;
    const parts: string[] = [];
    ts.forEachChild(node, (child) => void parts.push(write(child)));
    const isLeaf = ts.isToken(node) || ts.isIdentifier(node) || ts.isPrivateIdentifier(node);
    const text = isLeaf ? node.getText(file) : parts.filter((part) => part !== "").join(" ");
    return `(${ts.SyntaxKind[node.kind]}${operator}/${flags} ${text})`;
  };
  return write(file);
}

/** A text gets the same meaning from both. */
export function same(text: string, javascript = false): void {
  equal(syntaxErrorOf(text, javascript ? ts.ScriptKind.JS : ts.ScriptKind.TS), undefined, text);
  equal(
    canonical(compile(text, javascript, true)),
    canonical(compile(text, javascript, false)),
    text,
  );
}

/** Whether `splice` takes a text. */
export const spliced = (text: string, javascript = false): boolean =>
  splice(stateOf(text, javascript)) !== undefined;
