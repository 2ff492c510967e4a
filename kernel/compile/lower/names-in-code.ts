import { names, outer } from "../../contract/added.js";
import { cellGlobals, type Lowering } from "./lowering.js";
import type { api, TypeScript } from "../check/typescript.js";

/** What a name is called in the compiled cell; undefined when that is itself. */
export function compiledName(state: Lowering, node: api.Identifier): string | undefined {
  const { ts } = state;
  const name = node.text;
  const { Value, Alias } = ts.SymbolFlags;
  const symbol = state.checker.resolveName(name, node, Value, false);
  // Code that asks which runtime it is in, by `typeof Deno`, hears that it is in Node.
  const asked = outermost(state, node).parent;
  const given = cellGlobals.has(name) && !(name === "Deno" && ts.isTypeOfExpression(asked));
  if (symbol === undefined) {
    if (given) return reach(state, name, "given");
    if (!state.late || name === "arguments" || name in globalThis) return undefined;
    noteRead(state, node);
    return reach(state, name, "ref", ts.isTypeOfExpression(asked) ? "type" : "v");
  }
  if (isUnset(state, node, symbol)) return reach(state, name, "ref", "unset");
  if (symbol.flags & Alias) {
    const access = state.imports.access(symbol);
    if (access !== undefined) return access;
  }
  if (state.names?.has(name, symbol) === true) {
    noteRead(state, node);
    return reach(state, name, "ref");
  }
  const elsewhere = symbol.declarations?.every((d) => d.getSourceFile() !== state.file) === true;
  return elsewhere && given ? reach(state, name, "given") : undefined;
}

/** A name is read wherever it stands but on the left of `=`, alone or in a pattern. */
function noteRead({ ts, read }: Lowering, node: api.Identifier): void {
  const { parent } = node;
  const isPlain =
    !ts.isBinaryExpression(parent) || parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  const definite = 1;
  if (isPlain && ts.getAssignmentTargetKind(node) === definite) return;
  read.add(node.text);
}

/** A property of what the kernel gives for a name. */
export function reach(
  { outside }: Lowering,
  name: string,
  how: "ref" | "given" | "module",
  property = "v",
): string {
  const variable = outer(name);
  outside.set(variable, `${names.cell}.${how}(${JSON.stringify(name)})`);
  return `${variable}.${property}`;
}

/** In `for (using x of [x])` the second x has no value yet, which is lost with `using`. */
function isUnset({ ts }: Lowering, node: api.Node, { valueDeclaration }: api.Symbol): boolean {
  const list = valueDeclaration?.parent;
  if (list === undefined || !ts.isVariableDeclarationList(list)) return false;
  if (!(list.flags & ts.NodeFlags.Using & ~ts.NodeFlags.Const)) return false;
  const { parent: loop } = list;
  if (!ts.isForOfStatement(loop)) return false;
  return loop.expression.pos <= node.pos && node.end <= loop.expression.end;
}

/** An expression with the parentheses and types around it. */
function outermost({ ts }: Lowering, node: api.Node): api.Node {
  let at = node;
  while (wraps(ts, at.parent)) at = at.parent;
  return at;
}

type Wrapper =
  | api.ParenthesizedExpression
  | api.NonNullExpression
  | api.AsExpression
  | api.SatisfiesExpression
  | api.TypeAssertion;

function wraps(ts: TypeScript, node: api.Node): node is Wrapper {
  return (
    ts.isParenthesizedExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isTypeAssertionExpression(node)
  );
}

/** A function or class without a name of its own: it takes that of the variable it is assigned to. */
export function isNameless({ ts }: Lowering, node: api.Expression): boolean {
  let at = node;
  while (wraps(ts, at)) at = at.expression;
  if (ts.isFunctionExpression(at) || ts.isClassExpression(at)) return at.name === undefined;
  return ts.isArrowFunction(at);
}

/** Whether a name is written where a value is read or assigned, and not as the name of a property. */
export function isValueName({ ts }: Lowering, node: api.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
  if (ts.isExportAssignment(parent)) return true;
  return ts.isExpressionNode(node) && !ts.isMetaProperty(parent);
}

/** Whether an expression is what a call calls, whatever types and parentheses are around it. */
export function isCallee(state: Lowering, node: api.Node): boolean {
  const { ts } = state;
  const at = outermost(state, node);
  const { parent } = at;
  if (ts.isCallExpression(parent)) return parent.expression === at;
  if (ts.isTaggedTemplateExpression(parent)) return parent.tag === at;
  return ts.isDecorator(parent);
}

/** A function that calls nothing cannot recurse, and its loops have checks of their own. */
export function callsSomething({ ts }: Lowering, node: api.Node): boolean {
  let found = false;
  const look = (child: api.Node): void => {
    if (ts.isCallExpression(child) || ts.isNewExpression(child)) found = true;
    if (!found && !ts.isFunctionLike(child)) ts.forEachChild(child, look);
  };
  ts.forEachChild(node, look);
  return found;
}
