// A cell that holds nothing but JavaScript and types becomes JavaScript by changes to its own text, at a
// third of what TypeScript's transformers and printer cost. For anything else `splice` gives up, and
// those do it: enums, namespaces, decorators, parameter properties, `using`, JSX, `import =`, …
import type { ColumnMap } from "../../contract/compiler.js";
import { Edits } from "./edits.js";
import { Eraser } from "./erase.js";
import type { Lowering } from "./lowering.js";
import { callsSomething, compiledName, isCallee, isValueName } from "./names-in-code.js";
import { spliceStatements, type Visit } from "./splice-statements.js";
import type { api } from "../check/typescript.js";

/** Texts in which a script reads something else than a module does, or that name the script. */
const misread = /<!--|-->|^#!|\/\/[#@] source|[\r\u2028\u2029]/;

/** The body of the cell's function, or undefined. Nothing in `state` has changed then. */
export function splice(
  state: Lowering,
): { text: string; columns: ColumnMap["columns"] } | undefined {
  const { file } = state;
  if (misread.test(file.text)) return undefined;
  const edits = new Edits(file.text);
  const visit = visitor(state, edits);
  return spliceStatements(state, edits, visit) ? edits.apply() : undefined;
}

function visitor(state: Lowering, edits: Edits): Visit {
  const { ts, file } = state;
  const { text } = file;
  const erase = new Eraser(state, edits);
  const kinds = ts.SyntaxKind;
  const start = (node: api.Node): number => node.getStart(file);
  const children = (node: api.Node): true | undefined => ts.forEachChild(node, visit);
  const each = (...nodes: (api.Node | undefined)[]): true | undefined => {
    for (const node of nodes) if (node !== undefined && visit(node)) return true;
    return undefined;
  };
  const all = (nodes: readonly api.Node[] | undefined): true | undefined => each(...(nodes ?? []));

  const visit: Visit = (node) => {
    if (erase.isNothing(node)) return void erase.nothing(node);
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) {
      return erase.annotation(node);
    }
    const failed = visitKnown(node);
    if (failed) return true;
    // With every `;` in its place nothing that was taken out can join two statements.
    if (endsBySemicolon(node) && text.charAt(node.end - 1) !== ";") edits.insert(node.end, ";");
    return undefined;
  };

  function visitKnown(node: api.Node): true | undefined {
    switch (node.kind) {
      case kinds.Identifier:
        return void identifier(node as api.Identifier);
      case kinds.ShorthandPropertyAssignment:
        return shorthand(node as api.ShorthandPropertyAssignment);
      case kinds.ModuleDeclaration:
        return isTypesOnly(node) ? void erase.nothing(node) : true;
      case kinds.EnumDeclaration:
      case kinds.ImportEqualsDeclaration:
      case kinds.ExportAssignment:
      case kinds.Decorator:
      case kinds.AccessorKeyword:
      case kinds.JsxElement:
      case kinds.JsxSelfClosingElement:
      case kinds.JsxFragment:
        return true;
      case kinds.VariableDeclarationList:
        return node.flags & ts.NodeFlags.Using & ~ts.NodeFlags.Const ? true : children(node);
      case kinds.VariableDeclaration: {
        const { name, exclamationToken, type, initializer } = node as api.VariableDeclaration;
        erase.token(exclamationToken);
        return each(name, type, initializer);
      }
      case kinds.PropertyAccessExpression:
      case kinds.ElementAccessExpression: {
        const access = node as api.PropertyAccessExpression | api.ElementAccessExpression;
        const constant = state.checker.getConstantValue(access);
        return constant === undefined ? children(node) : true;
      }
      case kinds.AsExpression:
      case kinds.SatisfiesExpression: {
        const { expression } = node as api.AsExpression | api.SatisfiesExpression;
        if (visit(expression)) return true;
        return void edits.remove(expression.end, node.end);
      }
      case kinds.NonNullExpression: {
        const { expression } = node as api.NonNullExpression;
        if (visit(expression)) return true;
        return void edits.remove(node.end - 1, node.end);
      }
      case kinds.TypeAssertionExpression: {
        // In parentheses: what follows may be an object after `=>`, or stand on the next line.
        const { expression } = node as api.TypeAssertion;
        edits.replace(start(node), start(expression), "(");
        if (visit(expression)) return true;
        return void edits.insert(node.end, ")");
      }
      case kinds.ExpressionWithTypeArguments: {
        const { expression, typeArguments } = node as api.ExpressionWithTypeArguments;
        erase.angles(typeArguments);
        return visit(expression);
      }
      case kinds.CallExpression:
      case kinds.NewExpression: {
        const call = node as api.CallExpression | api.NewExpression;
        if (call.expression.kind === kinds.ImportKeyword) {
          edits.replace(start(call.expression), call.expression.end, "__lab.import");
        } else if (visit(call.expression)) return true;
        erase.angles(call.typeArguments);
        return all(call.arguments);
      }
      case kinds.TaggedTemplateExpression: {
        const { tag, typeArguments, template } = node as api.TaggedTemplateExpression;
        erase.angles(typeArguments);
        return each(tag, template);
      }
      case kinds.MetaProperty: {
        if ((node as api.MetaProperty).keywordToken !== kinds.ImportKeyword) return undefined;
        return void edits.replace(start(node), node.end, "__lab.meta");
      }
      case kinds.ClassDeclaration:
      case kinds.ClassExpression:
        return classLike(node as api.ClassLikeDeclaration);
      case kinds.PropertyDeclaration: {
        const property = node as api.PropertyDeclaration;
        if (modifiers(property.modifiers)) return true;
        erase.token(property.questionToken ?? property.exclamationToken);
        return each(property.name, property.type, property.initializer);
      }
      case kinds.Parameter: {
        const parameter = node as api.ParameterDeclaration;
        if (parameter.modifiers !== undefined) return true;
        erase.token(parameter.questionToken);
        return each(parameter.name, parameter.type, parameter.initializer);
      }
      default:
        if (ts.isIterationStatement(node, false)) return loop(node);
        return ts.isFunctionLike(node) ? functionLike(node) : children(node);
    }
  }

  function endsBySemicolon(node: api.Node): boolean {
    switch (node.kind) {
      case kinds.VariableStatement:
      case kinds.ExpressionStatement:
      case kinds.ReturnStatement:
      case kinds.ThrowStatement:
      case kinds.BreakStatement:
      case kinds.ContinueStatement:
      case kinds.DebuggerStatement:
      case kinds.DoStatement:
      case kinds.PropertyDeclaration:
        return true;
      default:
        return false;
    }
  }

  function isTypesOnly(node: api.Node): boolean {
    return (ts as unknown as ModuleStates).getModuleInstanceState(node) === 0;
  }

  function identifier(node: api.Identifier): void {
    const target = isValueName(state, node) ? compiledName(state, node) : undefined;
    if (target === undefined) return;
    // `(0, a.b)(…)`: a plain call, whose `this` is not the module or the session
    const apart = target.includes(".") && isCallee(state, node);
    edits.replace(start(node), node.end, apart ? `(0, ${target})` : target);
  }

  function shorthand(node: api.ShorthandPropertyAssignment): true | undefined {
    const target = compiledName(state, node.name);
    if (target !== undefined) edits.insert(node.name.end, `: ${target}`);
    return node.objectAssignmentInitializer && visit(node.objectAssignmentInitializer);
  }

  /** Removes the words that only types have; true where one means more than that. */
  function modifiers(list: api.NodeArray<api.ModifierLike> | undefined): true | undefined {
    for (const modifier of list ?? []) {
      switch (modifier.kind) {
        case kinds.AsyncKeyword:
        case kinds.StaticKeyword:
          break;
        case kinds.Decorator:
        case kinds.AccessorKeyword:
        case kinds.DefaultKeyword:
          return true;
        default:
          erase.token(modifier);
      }
    }
    return undefined;
  }

  function classLike(node: api.ClassLikeDeclaration): true | undefined {
    if (modifiers(node.modifiers)) return true;
    erase.angles(node.typeParameters);
    for (const clause of node.heritageClauses ?? []) {
      if (clause.token === kinds.ImplementsKeyword) edits.remove(clause.pos, clause.end);
      else if (all(clause.types)) return true;
    }
    return all(node.members);
  }

  function functionLike(node: api.SignatureDeclaration): true | undefined {
    const { typeParameters, parameters, type } = node;
    const { modifiers: words, body } = node as api.FunctionLikeDeclaration;
    if (modifiers(words)) return true;
    const isArrow = ts.isArrowFunction(node);
    // `async` and the parameters share a line, and so do these and `=>`.
    const breaks = (from: number, to: number): boolean => text.slice(from, to).includes("\n");
    if (isArrow && typeParameters && breaks(node.pos, parameters.pos)) return true;
    if (isArrow && type && breaks(type.pos, type.end)) return true;
    erase.angles(typeParameters);
    if (ts.isMethodDeclaration(node)) erase.token(node.questionToken);
    if (node.name !== undefined && visit(node.name)) return true;
    const rest = erase.thisParameter(parameters) ? parameters.slice(1) : parameters;
    if (all(rest) || (type !== undefined && visit(type))) return true;
    if (body === undefined) return undefined;
    const ticks =
      (isArrow ||
        ts.isFunctionDeclaration(node) ||
        ts.isFunctionExpression(node) ||
        ts.isMethodDeclaration(node)) &&
      callsSomething(state, node);
    if (!ticks) return visit(body);
    if (!ts.isBlock(body)) {
      edits.insert(start(body), "(__tick(), ");
      if (visit(body)) return true;
      return void edits.insert(body.end, ")");
    }
    const [first] = body.statements;
    if (first && ts.isExpressionStatement(first) && ts.isStringLiteral(first.expression)) {
      edits.insert(first.end, ";__tick();");
    } else edits.insert(start(body) + 1, "__tick();");
    return visit(body);
  }

  function loop(node: api.IterationStatement): true | undefined {
    const { statement } = node;
    const block = ts.isBlock(statement);
    if (block) edits.insert(start(statement) + 1, "__tick();");
    else edits.insert(start(statement), "{ __tick(); ");
    if (children(node)) return true;
    if (!block) edits.insert(statement.end, " }");
    return undefined;
  }

  return visit;
}

interface ModuleStates {
  getModuleInstanceState(node: api.Node): number;
}
