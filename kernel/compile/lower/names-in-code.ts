import { cellGlobals, type Lowering } from "./lowering.js";
import type { api } from "../check/typescript.js";

/** What a name is called in the compiled cell; undefined when that is itself. */
export function compiledName(state: Lowering, node: api.Identifier): string | undefined {
  const { ts } = state;
  const name = node.text;
  const { Value, Alias } = ts.SymbolFlags;
  const symbol = state.checker.resolveName(name, node, Value, false);
  // Code that asks which runtime it is in, by `typeof Deno`, hears that it is in Node.
  const given = cellGlobals.has(name) && !(name === "Deno" && ts.isTypeOfExpression(node.parent));
  if (symbol === undefined) {
    if (given) return `__lab.${name}`;
    if (!state.late || name === "arguments" || name in globalThis) return undefined;
    if (ts.isTypeOfExpression(node.parent)) return `__lab.peek(${JSON.stringify(name)})`;
    state.refs.add(name);
    return `__ref_${name}.v`;
  }
  if (symbol.flags & Alias) {
    const access = state.imports.access(symbol);
    if (access !== undefined) return access;
  }
  if (state.names?.has(name, symbol) === true) {
    state.refs.add(name);
    return `__ref_${name}.v`;
  }
  const elsewhere = symbol.declarations?.every((d) => d.getSourceFile() !== state.file) === true;
  return elsewhere && given ? `__lab.${name}` : undefined;
}

/** Whether a name is written where a value is read or assigned, and not as the name of a property. */
export function isValueName({ ts }: Lowering, node: api.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
  if (ts.isExportAssignment(parent)) return true;
  return ts.isExpressionNode(node) && !ts.isMetaProperty(parent);
}

/** Whether an expression is what a call calls, whatever types and parentheses are around it. */
export function isCallee({ ts }: Lowering, node: api.Node): boolean {
  const called = (at: api.Node): boolean => {
    const { parent } = at;
    if (ts.isCallExpression(parent)) return parent.expression === at;
    if (ts.isTaggedTemplateExpression(parent)) return parent.tag === at;
    if (ts.isDecorator(parent)) return true;
    const wraps =
      ts.isParenthesizedExpression(parent) ||
      ts.isNonNullExpression(parent) ||
      ts.isAsExpression(parent) ||
      ts.isSatisfiesExpression(parent) ||
      ts.isTypeAssertionExpression(parent);
    return wraps && called(parent);
  };
  return called(node);
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
