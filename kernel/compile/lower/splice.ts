// A file becomes JavaScript by changes to its own text: names of other cells and imports are replaced,
// checks for interrupts go in and types go out. What is left is JavaScript, or else (enums, namespaces,
// decorators, parameter properties, `using`, JSX, …) TypeScript that `lower.ts` hands to TypeScript.
import { added } from "../../contract/added.js";
import { Eraser } from "./erase.js";
import type { Lowering } from "./lowering.js";
import {
  callsSomething,
  compiledName,
  isCallee,
  isNameless,
  isValueName,
  reach,
} from "./names-in-code.js";
import { spliceStatements, type Visit } from "./statements.js";
import type { api } from "../check/typescript.js";

/** Texts in which a script reads something else than a module does, or that name the script. */
const misread = /<!--|-->|^#!|\/\/[#@] source|[\r\u2028\u2029]/;

/** Makes the changes in `state.edits`. */
export function splice(state: Lowering): void {
  if (misread.test(state.file.text)) state.isTypeScript = true;
  spliceStatements(state, visitor(state));
}

function visitor(state: Lowering): Visit {
  const { ts, file, edits } = state;
  const { text } = file;
  const erase = new Eraser(state);
  const kinds = ts.SyntaxKind;
  const start = (node: api.Node): number => node.getStart(file);
  const children = (node: api.Node): void => ts.forEachChild(node, visit);
  const each = (...nodes: (api.Node | undefined)[]): void => {
    for (const node of nodes) if (node !== undefined) visit(node);
  };
  const all = (nodes: readonly api.Node[] | undefined): void => each(...(nodes ?? []));

  function visit(node: api.Node): void {
    if (erase.isNothing(node)) return erase.nothing(node);
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) {
      return erase.annotation(node);
    }
    visitCode(node);
    // What was taken out must join no two statements.
    if (endsBySemicolon(node) && erase.tookEndOf(node)) edits.insert(node.end, ";");
  }

  function visitCode(node: api.Node): void {
    switch (node.kind) {
      case kinds.Identifier:
        return identifier(node as api.Identifier);
      case kinds.ShorthandPropertyAssignment:
        return shorthand(node as api.ShorthandPropertyAssignment);
      case kinds.ImportEqualsDeclaration:
        return importEquals(node as api.ImportEqualsDeclaration);
      case kinds.EnumMember:
        return enumMember(node as api.EnumMember);
      case kinds.VariableStatement: {
        const { modifiers: words, declarationList } = node as api.VariableStatement;
        modifiers(words);
        return visit(declarationList);
      }
      case kinds.EnumDeclaration: {
        const { modifiers: words, members } = node as api.EnumDeclaration;
        state.isTypeScript = true;
        modifiers(words);
        return all(members);
      }
      case kinds.ModuleDeclaration: {
        const { modifiers: words, body } = node as api.ModuleDeclaration;
        state.isTypeScript = true;
        modifiers(words);
        return each(body);
      }
      case kinds.JsxElement:
      case kinds.JsxSelfClosingElement:
      case kinds.JsxFragment:
        state.isTypeScript = true;
        return children(node);
      case kinds.VariableDeclarationList:
        if (node.flags & ts.NodeFlags.Using & ~ts.NodeFlags.Const) state.isTypeScript = true;
        return children(node);
      case kinds.VariableDeclaration: {
        const { name, exclamationToken, type, initializer } = node as api.VariableDeclaration;
        erase.token(exclamationToken);
        return each(name, type, initializer);
      }
      case kinds.PropertyAccessExpression:
      case kinds.ElementAccessExpression: {
        const access = node as api.PropertyAccessExpression | api.ElementAccessExpression;
        const constant = state.checker.getConstantValue(access);
        if (constant === undefined) return children(node);
        return edits.addFor(start(node), node.end, literal(constant));
      }
      case kinds.BinaryExpression: {
        const { left, operatorToken, right } = node as api.BinaryExpression;
        each(left, operatorToken);
        const name = assigns(operatorToken) && ts.isIdentifier(left) ? left : undefined;
        return assigned(name, right);
      }
      case kinds.AsExpression:
      case kinds.SatisfiesExpression: {
        const { expression } = node as api.AsExpression | api.SatisfiesExpression;
        visit(expression);
        return erase.range(expression.end, node.end);
      }
      case kinds.NonNullExpression:
        visit((node as api.NonNullExpression).expression);
        return erase.range(node.end - 1, node.end);
      case kinds.TypeAssertionExpression: {
        // In parentheses: what follows may be an object after `=>`, or stand on the next line.
        const { expression } = node as api.TypeAssertion;
        edits.replace(start(node), start(expression), "(");
        visit(expression);
        return edits.insert(node.end, ")");
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
          const target = reach(state, "import", "module");
          edits.addFor(start(call.expression), call.expression.end, target);
        } else visit(call.expression);
        erase.angles(call.typeArguments);
        return all(call.arguments);
      }
      case kinds.TaggedTemplateExpression: {
        const { tag, typeArguments, template } = node as api.TaggedTemplateExpression;
        erase.angles(typeArguments);
        return each(tag, template);
      }
      case kinds.MetaProperty:
        if ((node as api.MetaProperty).keywordToken !== kinds.ImportKeyword) return;
        // A script has no `import.meta`, but `this`, which nobody can assign to either.
        return edits.addFor(
          start(node),
          node.end,
          reach(state, "import", "module", "meta"),
          "this",
        );
      case kinds.ClassDeclaration:
      case kinds.ClassExpression:
        return classLike(node as api.ClassLikeDeclaration);
      case kinds.PropertyDeclaration: {
        const property = node as api.PropertyDeclaration;
        modifiers(property.modifiers, true);
        erase.token(property.questionToken ?? property.exclamationToken);
        return each(property.name, property.type, property.initializer);
      }
      case kinds.Parameter: {
        const parameter = node as api.ParameterDeclaration;
        // Those of a constructor make properties.
        if (parameter.modifiers !== undefined) state.isTypeScript = true;
        all(parameter.modifiers?.filter(ts.isDecorator));
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
      case kinds.ImportEqualsDeclaration:
        return true;
      default:
        return false;
    }
  }

  function identifier(node: api.Identifier): void {
    const target = isValueName(state, node) ? compiledName(state, node) : undefined;
    if (target === undefined) return;
    // `(0, a.b)(…)`: a plain call, whose `this` is not the module or the session
    const apart = /[.[]/.test(target) && isCallee(state, node);
    edits.addFor(start(node), node.end, apart ? added.callee(target) : target);
  }

  const assigns = ({ kind }: api.Node): boolean =>
    kind === kinds.EqualsToken ||
    kind === kinds.QuestionQuestionEqualsToken ||
    kind === kinds.BarBarEqualsToken ||
    kind === kinds.AmpersandAmpersandEqualsToken;

  /** What is assigned to a variable: when that is a property here, it gives a function no name. */
  function assigned(name: api.Identifier | undefined, value: api.Expression): void {
    const isNamed =
      name !== undefined && isNameless(state, value) && compiledName(state, name) !== undefined;
    if (isNamed) edits.add(start(value), added.openNamed(name.text));
    visit(value);
    if (isNamed) edits.add(value.end, added.closeNamed(name.text));
  }

  function shorthand(node: api.ShorthandPropertyAssignment): void {
    const target = compiledName(state, node.name);
    if (target !== undefined) edits.add(node.name.end, added.shorthand(target));
    const { objectAssignmentInitializer: value } = node;
    if (value !== undefined) assigned(node.name, value);
  }

  /** `import a = require("b")`, or another name for something of a namespace. */
  function importEquals(node: api.ImportEqualsDeclaration): void {
    const { name, moduleReference: from } = node;
    const isRequired = ts.isExternalModuleReference(from);
    const isValue = isRequired || state.imports.isValue(state.checker.getSymbolAtLocation(name));
    if (node.isTypeOnly || !isValue) return erase.nothing(node);
    modifiers(node.modifiers);
    const { end = start(node) } = node.modifiers ?? {};
    edits.replace(ts.skipTrivia(text, end), start(name), "const ");
    if (isRequired) {
      const target = reach(state, "require", "given");
      return edits.addFor(start(from), start(from) + "require".length, target);
    }
    let first: api.EntityName = from;
    while (ts.isQualifiedName(first)) first = first.left;
    const target = compiledName(state, first);
    if (target !== undefined) edits.addFor(start(first), first.end, target);
  }

  /** A value that is known by the names of others is not known to TypeScript alone. */
  function enumMember(node: api.EnumMember): void {
    const { name, initializer } = node;
    const value = initializer && state.checker.getConstantValue(node);
    if (value === undefined) return each(name, initializer);
    edits.addFor(start(initializer!), node.end, literal(value));
  }

  /** Removes the words that only types have, and those that only modules have. */
  function modifiers(list: api.NodeArray<api.ModifierLike> | undefined, isOfMember = false): void {
    for (const modifier of list ?? []) {
      switch (modifier.kind) {
        case kinds.AsyncKeyword:
        case kinds.StaticKeyword:
        case kinds.ConstKeyword:
          break;
        case kinds.AccessorKeyword:
          state.isTypeScript = true;
          break;
        case kinds.Decorator:
          state.isTypeScript = true;
          visit(modifier);
          break;
        case kinds.ExportKeyword:
        case kinds.DefaultKeyword:
          // Namespaces have exports of their own.
          if (ts.isSourceFile(modifier.parent.parent)) edits.remove(start(modifier), modifier.end);
          break;
        default:
          // `a = 1⏎ public *b() {}` is not a product.
          if (isOfMember && modifier === list![0]) erase.firstWord(modifier);
          else erase.token(modifier);
      }
    }
  }

  /** `export default` needs no name, but what is left when that is gone does. */
  function named(node: api.ClassLikeDeclaration | api.FunctionLikeDeclaration, word: string): void {
    if (node.name !== undefined) return visit(node.name);
    if (!ts.isClassDeclaration(node) && !ts.isFunctionDeclaration(node)) return;
    const at = ts.skipTrivia(text, node.modifiers?.end ?? node.pos) + word.length;
    const star = ts.isFunctionDeclaration(node) ? node.asteriskToken : undefined;
    edits.insert(star?.end ?? at, " __default");
  }

  function classLike(node: api.ClassLikeDeclaration): void {
    modifiers(node.modifiers);
    named(node, "class");
    erase.angles(node.typeParameters);
    for (const clause of node.heritageClauses ?? []) {
      if (clause.token === kinds.ImplementsKeyword) edits.remove(clause.pos, clause.end);
      else all(clause.types);
    }
    all(node.members);
  }

  function functionLike(node: api.SignatureDeclaration): void {
    const { typeParameters, parameters, type } = node;
    const { modifiers: words, body } = node as api.FunctionLikeDeclaration;
    modifiers(words, ts.isClassElement(node));
    const isArrow = ts.isArrowFunction(node);
    // `async` and the parameters share a line, and so do these and `=>`.
    const breaks = (from: number, to: number): boolean => text.slice(from, to).includes("\n");
    const keepsParameters = isArrow && typeParameters && breaks(node.pos, parameters.pos);
    const keepsType = isArrow && type && breaks(type.pos, type.end);
    if (keepsParameters || keepsType) state.isTypeScript = true;
    if (!keepsParameters) erase.angles(typeParameters);
    if (ts.isMethodDeclaration(node)) erase.token(node.questionToken);
    named(node as api.FunctionLikeDeclaration, "function");
    const rest = erase.thisParameter(parameters) ? parameters.slice(1) : parameters;
    all(rest);
    if (type !== undefined && !keepsType) visit(type);
    if (body === undefined) return;
    const ticks =
      (isArrow ||
        ts.isFunctionDeclaration(node) ||
        ts.isFunctionExpression(node) ||
        ts.isMethodDeclaration(node)) &&
      callsSomething(state, node);
    if (!ticks) return visit(body);
    if (!ts.isBlock(body)) {
      edits.add(start(body), added.openExpression);
      visit(body);
      return edits.add(body.end, added.closeExpression);
    }
    const [first] = body.statements;
    if (first && ts.isExpressionStatement(first) && ts.isStringLiteral(first.expression)) {
      edits.add(first.end, added.tickAfterDirective);
    } else edits.add(start(body) + 1, added.tick);
    visit(body);
  }

  function loop(node: api.IterationStatement): void {
    const { statement } = node;
    const block = ts.isBlock(statement);
    if (block) edits.add(start(statement) + 1, added.tick);
    else edits.add(start(statement), added.openBlock);
    children(node);
    if (!block) edits.add(statement.end, added.closeBlock);
  }

  return visit;
}

/** In parentheses, so that a number may stand before a point. */
function literal(value: string | number): string {
  if (typeof value === "string") return JSON.stringify(value);
  return value < 0 ? `(-${-value})` : `(${value})`;
}
