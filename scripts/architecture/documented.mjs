// Options of the stable entry points: what a stable function, class or constant takes under the name of options, and
// what is exported under that name. Every member has a doc comment, and one that may be left out says its default.
import { join, relative } from "node:path";
import ts from "typescript";
import { entryPoints } from "./declarations.mjs";
import { root } from "./imports.mjs";

const isOptions = (name) => /options$/i.test(name ?? "");
const isMember = (node) => ts.isPropertySignature(node) || ts.isMethodSignature(node);
const isOurs = (node) => !/\/(node_modules|vendor)\//.test(node.getSourceFile().fileName);

/** The text of a doc comment. */
const textOf = (comment) =>
  comment
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\*/gm, "")
    .replace(/@default/g, "Default:")
    .replace(/\s+/g, " ")
    .trim();

/** The members of options in declarations, each once for every function that takes them. */
export function optionsIn(paths) {
  const program = ts.createProgram(paths, {
    target: ts.ScriptTarget.Latest,
    module: ts.ModuleKind.NodeNext,
    skipLibCheck: true,
    strict: true,
  });
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
        optional: node.questionToken !== undefined,
        type: (node.type?.getText() ?? checker.typeToString(checker.getTypeOfSymbol(member)))
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
      const { name } = exported;
      const symbol =
        exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const declared = checker.getDeclaredTypeOfSymbol(symbol);
      if (isOptions(name)) look(declared, name, path);
      const { flags } = symbol;
      if (!(flags & (ts.SymbolFlags.Value | ts.SymbolFlags.Interface))) continue;
      const types = flags & ts.SymbolFlags.Value ? [checker.getTypeOfSymbol(symbol)] : [];
      if (flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) types.push(declared);
      for (const type of types) {
        lookAtCalls(type, name, path);
        for (const member of type.getProperties()) {
          const node = member.declarations?.[0];
          if (node && isOurs(node))
            lookAtCalls(checker.getTypeOfSymbol(member), `${name}.${member.name}`, path);
        }
      }
    }
  }
  return found;
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

/** The declarations of the stable entry points. */
export const stablePaths = () =>
  entryPoints()
    .filter(({ name }) => !/^arpo-lab\/(experimental|internal)\//.test(name))
    .map(({ path }) => join(root, path));
