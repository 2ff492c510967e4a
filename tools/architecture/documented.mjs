// Options of the stable entry points: what a stable function, class or constant takes under the name of options, and
// what is exported under that name. Every member has a doc comment, and one that may be left out says its default.
// Every other parameter of a stable function, method or constructor has a line `@param` in the doc comment.
import { join, relative } from "node:path";
import ts from "typescript";
import { entryPoints } from "./declarations.mjs";
import { root } from "./imports.mjs";

const isOptions = (name) => /options$/i.test(name ?? "");
const isMember = (node) => ts.isPropertySignature(node) || ts.isMethodSignature(node);
/** Whether a table of options states a member: `Option<what people write, …>`. */
const isStated = ({ type }) => /^(import\(.*\)\.)?(Option|Following)</.test(type?.getText() ?? "");
const isOurs = (node) => !/\/(node_modules|vendor)\//.test(node.getSourceFile().fileName);

/** The text of a doc comment. */
const textOf = (comment) =>
  comment
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\*/gm, "")
    .replace(/@default/g, "Default:")
    .replace(/\s+/g, " ")
    .trim();

const programOf = (paths) =>
  ts.createProgram(paths, {
    target: ts.ScriptTarget.Latest,
    module: ts.ModuleKind.NodeNext,
    skipLibCheck: true,
    strict: true,
  });

/** Visits the types of what declarations export: functions, classes, interfaces and constants, and of their members. */
function visitCallables(program, paths, visit) {
  const checker = program.getTypeChecker();
  for (const path of paths) {
    const entry = checker.getSymbolAtLocation(program.getSourceFile(path));
    for (const exported of checker.getExportsOfModule(entry)) {
      const { name } = exported;
      const symbol =
        exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const { flags } = symbol;
      if (!(flags & (ts.SymbolFlags.Value | ts.SymbolFlags.Interface))) continue;
      const types = flags & ts.SymbolFlags.Value ? [checker.getTypeOfSymbol(symbol)] : [];
      if (flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface))
        types.push(checker.getDeclaredTypeOfSymbol(symbol));
      for (const type of types) {
        visit(type, name, path);
        for (const member of type.getProperties()) {
          const node = member.declarations?.[0];
          if (node && isOurs(node))
            visit(checker.getTypeOfSymbol(member), `${name}.${member.name}`, path);
        }
      }
    }
  }
}

/** The members of options in declarations, each once for every function that takes them. */
export function optionsIn(paths) {
  const program = programOf(paths);
  const checker = program.getTypeChecker();
  const found = [];

  function look(type, owner, path) {
    const of = type.aliasSymbol?.name ?? type.symbol?.name ?? "";
    for (const member of (type.types ?? [type]).flatMap((one) => one.getProperties())) {
      const node = member.declarations?.[0];
      if (!node || !isMember(node) || !isOurs(node)) continue;
      const comments = member.declarations.flatMap((one) => ts.getJSDocCommentsAndTags(one));
      found.push({
        path,
        file: relative(root, node.getSourceFile().fileName).replaceAll("\\", "/"),
        owner: (ts.isInterfaceDeclaration(node.parent) && node.parent.name.text) || owner,
        takenBy: owner,
        /** The name of the options' type; empty where it has none. */
        of: isOptions(of) ? of : "",
        name: member.name,
        // What a table states is required there and may be left out by who writes options.
        optional: node.questionToken !== undefined || isStated(node),
        type: (
          (isStated(node) ? node.type.typeArguments[0] : node.type)?.getText() ??
          checker.typeToString(checker.getTypeOfSymbol(member))
        )
          .replace(/\/\*\*[^]*?\*\//g, "")
          .replace(/\s+/g, " "),
        comment: textOf(comments.map((one) => one.getText()).join("\n")),
      });
    }
  }
  function lookAtCalls(type, owner, path) {
    const calls = [...type.getCallSignatures(), ...type.getConstructSignatures()];
    for (const parameter of calls.flatMap((call) => call.getParameters())) {
      const taken = checker.getNonNullableType(checker.getTypeOfSymbol(parameter));
      const name = taken.aliasSymbol?.name ?? taken.symbol?.name;
      if (isOptions(parameter.name) || isOptions(name)) look(taken, owner, path);
    }
  }

  for (const path of paths) {
    const entry = checker.getSymbolAtLocation(program.getSourceFile(path));
    for (const exported of checker.getExportsOfModule(entry)) {
      if (!isOptions(exported.name)) continue;
      const symbol =
        exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      look(checker.getDeclaredTypeOfSymbol(symbol), exported.name, path);
    }
  }
  visitCallables(program, paths, lookAtCalls);
  return found;
}

const isInternal = (node) =>
  ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal");
const isHidden = (node) =>
  (node.name && ts.isPrivateIdentifier(node.name)) ||
  ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
/** What the doc comment of `type F = (parameter) => …` says of the parameter. */
function inAlias(node) {
  const alias = node.parent.parent;
  if (!ts.isTypeAliasDeclaration(alias)) return "";
  const tags = ts.getJSDocTags(alias).filter(ts.isJSDocParameterTag);
  const tag = tags.find(({ name }) => name.getText() === node.name.text);
  return (ts.getTextOfJSDocComment(tag?.comment) ?? "").trim();
}

/** The parameters of what declarations export, options and destructured ones aside, each with its description. */
export function parametersIn(paths) {
  const program = programOf(paths);
  const checker = program.getTypeChecker();
  const found = new Map();
  visitCallables(program, paths, (type, owner) => {
    for (const call of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
      const { declaration } = call;
      if (!declaration || !isOurs(declaration)) continue;
      if (isInternal(declaration) || isHidden(declaration)) continue;
      for (const parameter of call.getParameters()) {
        const node = parameter.valueDeclaration;
        const taken = checker.getNonNullableType(checker.getTypeOfSymbol(parameter));
        if (!node || !ts.isParameter(node) || !ts.isIdentifier(node.name)) continue;
        if (found.has(node)) continue;
        if (isOptions(parameter.name)) continue;
        if (isOptions(taken.aliasSymbol?.name ?? taken.symbol?.name)) continue;
        found.set(node, {
          file: relative(root, node.getSourceFile().fileName).replaceAll("\\", "/"),
          owner,
          name: parameter.name,
          comment:
            ts.displayPartsToString(parameter.getDocumentationComment(checker)).trim() ||
            inAlias(node),
        });
      }
    }
  });
  return [...found.values()];
}

/** Whether a description says something that the parameter's name does not. */
const describes = ({ name, comment }) =>
  comment
    .replace(/^(the|an?|its)\s/i, "")
    .replace(/\.$/, "")
    .toLowerCase() !== name.toLowerCase() && comment !== "";

/**
 * How many parameters stable functions have, and those that nothing describes. Read from the sources: the compiler
 * leaves the comments of functions in an inferred object type out of the declarations.
 */
export function undescribedParameters(paths = stableSources()) {
  const found = parametersIn(paths);
  const faults = found
    .filter((parameter) => !describes(parameter))
    .map(
      ({ file, owner, name }) =>
        `${file}: ${owner} needs "@param ${name} …" in its doc comment, in more words than its name`,
    );
  return { count: found.length, faults: [...new Set(faults)].sort() };
}

/** How many members stable options have, and those that lack something. */
export function undocumentedOptions() {
  const found = new Map();
  for (const { file, owner, name, optional, comment } of optionsIn(stablePaths())) {
    const fault =
      comment === ""
        ? "a doc comment"
        : optional && !/\bdefaults?\b/i.test(comment)
          ? "a default in its doc comment"
          : undefined;
    found.set(`${file}: ${owner}.${name}`, fault);
  }
  const faults = [...found].flatMap(([where, fault]) => (fault ? [`${where} needs ${fault}`] : []));
  return { count: found.size, faults: faults.sort() };
}

const stable = () =>
  entryPoints().filter(({ name }) => !/^arpo-lab\/(experimental|internal)\//.test(name));

/** The declarations of the stable entry points. */
export const stablePaths = () => stable().map(({ path }) => join(root, path));

const stableSources = () =>
  stable().map(({ path }) => join(root, path.replace(/^dist./, "").replace(/\.d\.ts$/, ".ts")));
