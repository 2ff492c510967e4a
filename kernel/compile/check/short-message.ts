// The type error of a wrong call in one line: what is wrong, what is accepted, the nearest name. TypeScript
// tells of every overload in turn, each with the whole of its signature.
import { nearest } from "../../../common/options/nearest.js";
import { withOwnEntry } from "./own-exports.js";
import type { api, BoundFile } from "./typescript.js";
import type { World } from "./world.js";

type Chain = api.DiagnosticMessageChain;

/** How many names or values a message lists. */
const LISTED = 12;
/** How long a type may be in a message. */
const TYPE_LENGTH = 60;

const NO_OVERLOAD = 2769;
/** There is no such property; the second knows one that is spelt much like it. */
const unknownProperty: ReadonlySet<number> = new Set([2353, 2561]);

/** The short message of an error and, where that leaves something out, the compiler's own. */
export function messageOf(
  world: World,
  diagnostic: api.Diagnostic,
): { message: string; full?: string } {
  const told = world.ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
  const full = withOwnEntry(diagnostic.code, told);
  const file = diagnostic.file as BoundFile | undefined;
  if (file === undefined || diagnostic.start === undefined) return { message: full };
  const { messageText, code, start } = diagnostic;
  const chain: Chain =
    typeof messageText === "string"
      ? { messageText, code, category: diagnostic.category }
      : messageText;
  const message = new Explainer(world, file, start).explain(chain);
  if (message === undefined) return { message: full };
  return full.includes("\n") ? { message, full } : { message };
}

/** What one signature was not content with: the chain's lines from the outermost in. */
function linesOf(chain: Chain): Chain[] {
  const lines = [chain];
  for (let at = chain.next?.[0]; at !== undefined; at = at.next?.[0]) lines.push(at);
  return lines;
}

const quoted = (text: string): string[] =>
  [...text.matchAll(/'((?:[^']|'(?=\w))*)'/g)].map((m) => m[1]!);

const shortened = (type: string): string =>
  type.length > TYPE_LENGTH ? `${type.slice(0, TYPE_LENGTH - 1)}…` : type;

function listed(names: string[], word: string): string {
  if (names.length <= LISTED) return names.length < 2 ? names.join() : enumerated(names, word);
  return `${names.slice(0, LISTED).join(", ")} and ${names.length - LISTED} more`;
}

const enumerated = (names: string[], word: string): string =>
  `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)!}`;

class Explainer {
  readonly #world: World;
  readonly #node: api.Node;

  constructor(world: World, file: BoundFile, start: number) {
    this.#world = world;
    let node: api.Node = file;
    for (let inner: api.Node | undefined = node; inner !== undefined;) {
      node = inner;
      inner = world.ts.forEachChild(node, (child) =>
        child.getStart(file) <= start && start < child.end ? child : undefined,
      );
    }
    this.#node = node;
  }

  explain(chain: Chain): string | undefined {
    const call = this.#call();
    if (chain.code !== NO_OVERLOAD) return this.#one(linesOf(chain), call, undefined);
    const overloads = (chain.next ?? []).map((each) => linesOf(each));
    if (call === undefined || overloads.length === 0) return undefined;
    // An option that does not exist says more than a first argument of another kind.
    const rank = (lines: Chain[]): number =>
      (unknownProperty.has(lines.at(-1)!.code) ? 0 : 100) - lines.length;
    const best = overloads.reduce((a, b) => (rank(b) < rank(a) ? b : a));
    const message = this.#one(best.slice(1), call, best[0]!.messageText);
    const isWholeArgument = best.at(-1)!.code === 2345;
    if (!isWholeArgument) return message;
    const accepted = new Set(
      overloads.map((lines) => shortened(quoted(lines.at(-1)!.messageText)[1] ?? "")),
    );
    const got = shortened(quoted(best.at(-1)!.messageText)[0] ?? "");
    if (accepted.has("")) return undefined;
    return `Cannot call ${nameOf(call)}: ${this.#argumentName(call)} must be ${listed([...accepted], "or")}, got ${got}`;
  }

  /** The call that the place is an argument of. */
  #call(): api.CallExpression | api.NewExpression | undefined {
    const { ts } = this.#world;
    for (let node = this.#node; !ts.isSourceFile(node); node = node.parent) {
      if (ts.isFunctionLike(node) || ts.isBlock(node)) return undefined;
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) return node;
    }
    return undefined;
  }

  #one(
    lines: Chain[],
    call: api.CallExpression | api.NewExpression | undefined,
    overload: string | undefined,
  ): string | undefined {
    const last = lines.at(-1);
    if (last === undefined) return undefined;
    const action = call === undefined ? "Cannot make this object" : `Cannot call ${nameOf(call)}`;
    const [first = "", second = ""] = quoted(last.messageText);
    if (unknownProperty.has(last.code)) {
      const names = this.#properties(first, call, overload);
      if (names.length === 0) return undefined;
      const meant = first.length > 2 ? nearest(first, names) : undefined;
      const hint = meant === undefined ? "" : `. Did you mean ${meant}?`;
      return `${action}: there is no ${first}; accepted are ${listed(names, "and")}${hint}`;
    }
    if (last.code !== 2322 && last.code !== 2820) return undefined;
    const path = lines.flatMap(({ code, messageText }) =>
      code === 2326 || code === 2200 ? (quoted(messageText)[0] ?? []) : [],
    );
    const name =
      path.length > 0 ? path.join(".") : (this.#propertyName() ?? this.#option(call, second));
    if (name === undefined || call === undefined) return undefined;
    const values = this.#values();
    const given = unquoted(first);
    const meant = given.length > 2 ? nearest(given, values.map(unquoted)) : undefined;
    const hint = meant === undefined ? "" : `. Did you mean ${JSON.stringify(meant)}?`;
    const accepted = values.length > 0 ? listed(values, "or") : shortened(second);
    return `${action}: ${name} must be ${accepted}, got ${shortened(first)}${hint}`;
  }

  /** Where the place is in the list of arguments. */
  #argumentName(call: api.CallExpression | api.NewExpression): string {
    const index = (call.arguments ?? []).findIndex(
      ({ pos, end }) => pos <= this.#node.pos && this.#node.end <= end,
    );
    if (index < 0) return "an argument";
    const names = this.#candidates(call).map((each) => each.parameters[index]?.name);
    const name = names.every((each) => each === names[0]) ? names[0] : undefined;
    return name ?? `argument ${index + 1}`;
  }

  #candidates(call: api.CallExpression | api.NewExpression): api.Signature[] {
    const found: api.Signature[] = [];
    this.#world.checker.getResolvedSignature(call, found);
    return found;
  }

  /** The property that the place gives a value to. */
  #propertyName(): string | undefined {
    const { ts } = this.#world;
    for (let node = this.#node; !ts.isSourceFile(node); node = node.parent) {
      if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node))
        return node.name.getText();
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) return undefined;
    }
    return undefined;
  }

  /** The first option of a call that is of this type; a message of several overloads is at none. */
  #option(
    call: api.CallExpression | api.NewExpression | undefined,
    type: string,
  ): string | undefined {
    const { ts, checker } = this.#world;
    for (const argument of call?.arguments ?? []) {
      if (!ts.isObjectLiteralExpression(argument)) continue;
      for (const { name } of argument.properties) {
        if (name === undefined || !ts.isIdentifier(name)) continue;
        const types = this.#candidates(call!).flatMap(({ parameters }) =>
          parameters.flatMap((each) => {
            const options = checker.getNonNullableType(checker.getTypeOfSymbol(each));
            return options.getProperty(name.text) ?? [];
          }),
        );
        const accepted = types.map((each) =>
          checker.typeToString(checker.getNonNullableType(checker.getTypeOfSymbol(each))),
        );
        if (accepted.includes(type)) return name.text;
      }
    }
    return undefined;
  }

  /** The values that are accepted at the place, where they are so few that they have been written down. */
  #values(): string[] {
    const { ts, checker } = this.#world;
    let node = this.#node;
    if (ts.isPropertyAssignment(node.parent) && node.parent.name === node)
      node = node.parent.initializer;
    if (!ts.isExpression(node)) return [];
    const type = checker.getContextualType(node);
    const members = type?.isUnion() === true ? type.types : [];
    const some = members.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
    const isText = some.length > 0 && some.every((each) => each.isStringLiteral());
    return isText ? some.map((each) => checker.typeToString(each)) : [];
  }

  /** The names that are accepted where `wrong` is not. */
  #properties(
    wrong: string,
    call: api.CallExpression | api.NewExpression | undefined,
    overload: string | undefined,
  ): string[] {
    const { ts, checker } = this.#world;
    let found: api.ObjectLiteralExpression | undefined;
    const visit = (node: api.Node): void => {
      const has =
        ts.isObjectLiteralExpression(node) &&
        node.properties.some((each) => each.name?.getText() === wrong);
      if (has) found ??= node;
      ts.forEachChild(node, visit);
    };
    visit(call ?? this.#node.parent);
    for (let node = this.#node; found === undefined && !ts.isSourceFile(node); node = node.parent)
      if (ts.isObjectLiteralExpression(node)) found = node;
    if (found === undefined) return [];
    const index = call?.arguments?.indexOf(found) ?? -1;
    const signature =
      call === undefined || index < 0
        ? undefined
        : this.#candidates(call).find(
            (each) => overload?.includes(checker.signatureToString(each)) === true,
          );
    const parameter = signature?.parameters[index];
    const type =
      parameter === undefined
        ? checker.getContextualType(found)
        : checker.getTypeOfSymbolAtLocation(parameter, found);
    if (type === undefined) return [];
    return checker.getPropertiesOfType(checker.getNonNullableType(type)).map(({ name }) => name);
  }
}

const unquoted = (text: string): string => text.replace(/^"|"$/g, "");

const nameOf = (call: api.CallExpression | api.NewExpression): string => {
  const text = call.expression.getText().replace(/\s+/g, " ");
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
};
