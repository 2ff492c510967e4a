// From a bound source file to the body of a JavaScript function.
//
// Variables of the cell itself stay native locals, so its loops run at full speed; each is published
// through a getter and a setter (`define`) when it is initialised. Names of earlier cells become
// `__ref_x.v`. Imports become `await __lab.import(…)` and their names `__m0.x`, which keeps them live.
import { ImportTable } from "./imports.js";
import { exportTable } from "./exports.js";
import { tickStatement, type Lowering } from "./lowering.js";
import { callsSomething, compiledName, isCallee, isValueName } from "./names-in-code.js";
import { lowerStatements } from "./statements.js";
import { printLowered } from "./print.js";
import type { SessionNames } from "./scope.js";
import { splice } from "./splice.js";
import type { api, BoundFile } from "../check/typescript.js";
import type { World } from "../check/world.js";

export interface Lowered {
  js: string;
  /** As in `CompiledCell`. */
  map: string;
}

export interface LowerOptions {
  world: World;
  file: BoundFile;
  /** The path that the source map names. */
  source: string;
  /** With names: a cell, whose last expression is its value. Without: a module with exports. */
  names?: SessionNames;
  /** Names nobody declared are looked up when the cell runs, as in plain JavaScript. */
  late: boolean;
  /** JavaScript that makes `__lab` from the argument `__scope`. */
  enter: string;
  /** Tell how long it took. */
  time?: boolean;
}

/** Compiles a file that has passed its checks (or need not). */
export function lower(options: LowerOptions): Lowered {
  const { world, names } = options;
  const file = options.file;
  const imports = new ImportTable(world, file);
  const state: Lowering = {
    ts: world.ts,
    checker: world.checker,
    file,
    names,
    late: options.late,
    imports,
    refs: new Set(),
    hoisted: [],
  };
  const exports = names === undefined ? exportTable(state) : undefined;
  const { text, map } = cellText(options, state) ?? printed(options, state);
  const header = [
    `"use strict"; const __lab = ${options.enter}; const __tick = __lab.tick;`,
    ...[...state.refs].map((name) => `const __ref_${name} = __lab.ref(${JSON.stringify(name)});`),
    names === undefined ? undefined : "let __value;",
    options.time === true ? "const __start = performance.now(); try {" : undefined,
    exports,
    ...state.hoisted,
  ].filter((part) => part !== undefined);
  const timed =
    options.time === true ? "} finally { __lab.took(performance.now() - __start); }\n" : "";
  const footer = timed + (names === undefined ? "" : "return __value;\n");
  return { js: `(async (__scope) => { ${header.join(" ")}\n${text}\n${footer}})`, map };
}

/** The cell's own text, changed where it must be. */
function cellText({ world, names }: LowerOptions, state: Lowering): Body | undefined {
  const spliced = names !== undefined && world.keepsText ? splice(state) : undefined;
  return spliced && { text: spliced.text, map: JSON.stringify({ columns: spliced.columns }) };
}

/** What TypeScript's transformers and printer make of the file. */
function printed({ world, file, source }: LowerOptions, state: Lowering): Body {
  const visit = visitor(state);
  const before: api.TransformerFactory<api.SourceFile> = (context) => (node) => {
    const statements = lowerStatements(state, node, (child) =>
      world.ts.visitNode(child, (n) => visit(n, context)),
    );
    return world.ts.factory.updateSourceFile(node, statements);
  };
  const { text, map } = printLowered(world, file, before, source);
  return { text, map: JSON.stringify({ ...map, mappings: `;${map.mappings}` }) };
}

interface Body {
  text: string;
  map: string;
}

type Visit = (node: api.Node, context: api.TransformationContext) => api.Node;

/** Expressions and loops, at any depth. */
function visitor(state: Lowering): Visit {
  const { ts } = state;
  const { factory } = ts;
  const raw = (text: string): api.Identifier => factory.createIdentifier(text);

  const visit: Visit = (node, context) => {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return node;
    if (ts.isIdentifier(node)) return identifier(node);
    if (ts.isShorthandPropertyAssignment(node)) return shorthand(node, context);
    const inner = ts.visitEachChild(node, (child) => visit(child, context), context);
    if (ts.isCallExpression(inner) && inner.expression.kind === ts.SyntaxKind.ImportKeyword) {
      return factory.updateCallExpression(inner, raw("__lab.import"), undefined, inner.arguments);
    }
    if (ts.isMetaProperty(inner) && inner.keywordToken === ts.SyntaxKind.ImportKeyword) {
      return raw("__lab.meta");
    }
    if (ts.isIterationStatement(inner, false)) return ticking(inner);
    if (ts.isFunctionLike(inner) && "body" in inner && inner.body !== undefined) {
      return callsSomething(state, node) ? tickingFunction(inner) : inner;
    }
    return inner;
  };

  function identifier(node: api.Identifier): api.Node {
    const target = isValueName(state, node) ? compiledName(state, node) : undefined;
    if (target === undefined) return node;
    const replaced = ts.setTextRange(raw(target), node);
    ts.setOriginalNode(replaced, node);
    if (!target.includes(".") || !isCallee(state, node)) return replaced;
    // `(0, a.b)(…)`: a plain call, whose `this` is not the module or the session
    return factory.createParenthesizedExpression(
      factory.createComma(factory.createNumericLiteral(0), replaced),
    );
  }

  function shorthand(
    node: api.ShorthandPropertyAssignment,
    context: api.TransformationContext,
  ): api.Node {
    const target = compiledName(state, node.name);
    const value = node.objectAssignmentInitializer;
    const initializer =
      value && ts.visitNode(value, (child) => visit(child, context), ts.isExpression);
    if (target === undefined) {
      return factory.updateShorthandPropertyAssignment(node, node.name, initializer);
    }
    const to = raw(target);
    return factory.createPropertyAssignment(
      node.name.text,
      initializer === undefined ? to : factory.createAssignment(to, initializer),
    );
  }

  function ticking(loop: api.IterationStatement): api.Node {
    const body = factory.createBlock(
      [
        tickStatement(state),
        ...(ts.isBlock(loop.statement) ? loop.statement.statements : [loop.statement]),
      ],
      true,
    );
    if (ts.isForStatement(loop)) {
      const { initializer, condition, incrementor } = loop;
      return factory.updateForStatement(loop, initializer, condition, incrementor, body);
    }
    if (ts.isForOfStatement(loop)) {
      const { awaitModifier, initializer, expression } = loop;
      return factory.updateForOfStatement(loop, awaitModifier, initializer, expression, body);
    }
    if (ts.isForInStatement(loop)) {
      return factory.updateForInStatement(loop, loop.initializer, loop.expression, body);
    }
    if (ts.isWhileStatement(loop)) {
      return factory.updateWhileStatement(loop, loop.expression, body);
    }
    return ts.isDoStatement(loop) ? factory.updateDoStatement(loop, body, loop.expression) : loop;
  }

  function tickingFunction(node: api.Node): api.Node {
    const entered = (body: api.Block): api.Block =>
      factory.updateBlock(body, [...prologue(body), tickStatement(state), ...rest(body)]);
    const prologue = (body: api.Block): api.Statement[] =>
      body.statements.filter((s, i) => i === 0 && isDirective(s));
    const rest = (body: api.Block): api.Statement[] =>
      body.statements.filter((s, i) => i !== 0 || !isDirective(s));
    const isDirective = (s: api.Statement): boolean =>
      ts.isExpressionStatement(s) && ts.isStringLiteral(s.expression);
    if (ts.isFunctionDeclaration(node) && node.body) {
      const { modifiers, asteriskToken, name, typeParameters, parameters, type } = node;
      return factory.updateFunctionDeclaration(
        node,
        modifiers,
        asteriskToken,
        name,
        typeParameters,
        parameters,
        type,
        entered(node.body),
      );
    }
    if (ts.isFunctionExpression(node)) {
      const { modifiers, asteriskToken, name, typeParameters, parameters, type } = node;
      return factory.updateFunctionExpression(
        node,
        modifiers,
        asteriskToken,
        name,
        typeParameters,
        parameters,
        type,
        entered(node.body),
      );
    }
    if (ts.isMethodDeclaration(node) && node.body) {
      const { modifiers, asteriskToken, name, questionToken, typeParameters, parameters, type } =
        node;
      return factory.updateMethodDeclaration(
        node,
        modifiers,
        asteriskToken,
        name,
        questionToken,
        typeParameters,
        parameters,
        type,
        entered(node.body),
      );
    }
    if (ts.isArrowFunction(node)) {
      const { modifiers, typeParameters, parameters, type, equalsGreaterThanToken, body } = node;
      const checked = ts.isBlock(body)
        ? entered(body)
        : factory.createParenthesizedExpression(factory.createComma(raw("__tick()"), body));
      return factory.updateArrowFunction(
        node,
        modifiers,
        typeParameters,
        parameters,
        type,
        equalsGreaterThanToken,
        checked,
      );
    }
    return node;
  }

  return visit;
}
