// What TypeScript adds to JavaScript and what can simply be left out of it.
import type { Lowering } from "./lowering.js";
import type { api } from "../check/typescript.js";

/** Removes types where they stand. */
export class Eraser {
  readonly #state: Lowering;
  readonly #text: string;
  /** Where what was taken out last ends. */
  #end = -1;

  constructor(state: Lowering) {
    this.#state = state;
    this.#text = state.file.text;
  }

  /** A statement or a member of a class that means nothing at run time. */
  isNothing(node: api.Node): boolean {
    const { ts } = this.#state;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
    if (ts.isIndexSignatureDeclaration(node)) return true;
    if (ts.isModuleDeclaration(node) && ts.getModuleInstanceState(node) === 0) return true;
    const { AbstractKeyword, DeclareKeyword } = ts.SyntaxKind;
    const marked = (kind: api.SyntaxKind): boolean =>
      ts.canHaveModifiers(node) && node.modifiers?.some((each) => each.kind === kind) === true;
    if (ts.isStatement(node) && marked(DeclareKeyword)) return true;
    if (ts.isPropertyDeclaration(node)) return marked(AbstractKeyword) || marked(DeclareKeyword);
    const hasBody =
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isConstructorDeclaration(node) ||
      ts.isAccessor(node);
    return hasBody && node.body === undefined;
  }

  nothing(node: api.Node): void {
    this.#state.edits.replace(node.getStart(this.#state.file), node.end, ";");
  }

  /** `: T`, if a colon is before the type. */
  annotation(type: api.Node): void {
    if (this.#text.charAt(type.pos - 1) === ":") this.range(type.pos - 1, type.end);
  }

  /** `<A, B>`, of a declaration or a call. */
  angles(list: api.NodeArray<api.Node> | undefined): void {
    if (list === undefined) return;
    this.range(list.pos - 1, this.#state.ts.skipTrivia(this.#text, list.end) + 1);
  }

  token(node: api.Node | undefined): void {
    if (node !== undefined) this.range(node.getStart(this.#state.file), node.end);
  }

  range(start: number, end: number): void {
    if (!this.#state.erases) return;
    this.#state.edits.remove(start, end);
    this.#end = end;
  }

  /** The first word of a class's member, in a place where a `;` may stand. */
  firstWord(node: api.Node): void {
    if (!this.#state.erases) return;
    this.#state.edits.replace(node.getStart(this.#state.file), node.end, ";");
  }

  /** Whether the last of a node's text has been taken out: what comes next could then belong to it. */
  tookEndOf(node: api.Node): boolean {
    return this.#end === node.end;
  }

  /** The first parameter of a function, when it is `this`. */
  thisParameter(parameters: api.NodeArray<api.ParameterDeclaration>): boolean {
    const [first, second] = parameters;
    if (first === undefined || first.name.getText(this.#state.file) !== "this") return false;
    this.range(first.pos, second?.pos ?? parameters.end);
    return true;
  }
}
