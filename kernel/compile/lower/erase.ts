// What TypeScript adds to JavaScript and what can simply be left out of it.
import type { Edits } from "./edits.js";
import type { Lowering } from "./lowering.js";
import type { api } from "../check/typescript.js";

/** Removes types where they stand. What cannot be removed alone is not known here. */
export class Eraser {
  readonly #state: Lowering;
  readonly #edits: Edits;
  readonly #text: string;

  constructor(state: Lowering, edits: Edits) {
    this.#state = state;
    this.#edits = edits;
    this.#text = state.file.text;
  }

  /** A statement or a member of a class that means nothing at run time. */
  isNothing(node: api.Node): boolean {
    const { ts } = this.#state;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
    if (ts.isIndexSignatureDeclaration(node)) return true;
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
    this.#edits.replace(node.getStart(this.#state.file), node.end, ";");
  }

  /** `: T`; true where there is no colon before the type. */
  annotation(type: api.Node): true | undefined {
    if (this.#text.charAt(type.pos - 1) !== ":") return true;
    this.#edits.remove(type.pos - 1, type.end);
    return undefined;
  }

  /** `<A, B>`, of a declaration or a call. */
  angles(list: api.NodeArray<api.Node> | undefined): void {
    if (list === undefined) return;
    this.#edits.remove(list.pos - 1, this.#state.ts.skipTrivia(this.#text, list.end) + 1);
  }

  token(node: api.Node | undefined): void {
    if (node !== undefined) this.#edits.remove(node.getStart(this.#state.file), node.end);
  }

  /** The first parameter of a function, when it is `this`. */
  thisParameter(parameters: api.NodeArray<api.ParameterDeclaration>): boolean {
    const [first, second] = parameters;
    if (first === undefined || first.name.getText(this.#state.file) !== "this") return false;
    this.#edits.remove(first.pos, second?.pos ?? parameters.end);
    return true;
  }
}
