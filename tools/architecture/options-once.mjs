// An option is declared once, in its table: the sentence beside it says the default that the table has, what help says
// of its key says no other, and no interface that takes the table declares the option again by hand.
import ts from "typescript";
import { parse, sources } from "./imports.mjs";

const makers = new Set(["option", "following", "completing", "unset", "group"]);
const plain = (text) => text.replace(/[`"']/g, "").trim();

/** `default 0.5`, `Default: \`code\``: the value that words name, undefined where they name none. */
const defaultIn = (comment) => {
  const words = comment.replace(/\s*\n\s*\*?\s*/g, " ");
  const said =
    /\bdefault:? (`[^`]*`|"[^"]*"|-?[\d.]*\d|true|false|\w+)/i.exec(words)?.[1] ??
    /(\S+) \(default\)/.exec(words)?.[1];
  return said === undefined ? undefined : plain(said);
};

const commentOf = (node, text) =>
  (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
    .map(({ pos, end }) => text.slice(pos, end))
    .filter((comment) => comment.startsWith("/**"))
    .at(-1) ?? "";

/** A literal as words name it; undefined for what is computed elsewhere. */
function literal(node) {
  if (!node) return undefined;
  const text = node.getText();
  if (ts.isStringLiteral(node)) return plain(text);
  return /^(-?[\d_.]+(e\d+)?|true|false)$/.test(text) ? text.replaceAll("_", "") : undefined;
}

/** The options of a table, by name; undefined where an object is none. */
function optionsOf(object) {
  const found = new Map();
  for (const member of object.properties) {
    if (!ts.isPropertyAssignment(member) || !ts.isCallExpression(member.initializer)) continue;
    const { expression } = member.initializer;
    if (makers.has(expression.getText())) found.set(member.name.getText(), member);
  }
  return found.size > 0 ? found : undefined;
}

/** What is wrong with one option of a table. */
function* faultsOf(member, text) {
  const { expression, arguments: given } = member.initializer;
  const said = defaultIn(commentOf(member, text));
  const has = expression.getText() === "option" ? literal(given[1]) : undefined;
  if (has !== undefined && said !== has)
    yield `its comment must say "Default ${has}", as the table, got ${said ?? "none"}`;
  const place = given.find((one) => ts.isCallExpression(one) && one.expression.getText() === "key");
  if (!place) return;
  const help = place.arguments[1]?.getText() ?? "";
  const inHelp = defaultIn(help.slice(1, -1));
  if (inHelp !== undefined && has !== undefined && inHelp !== has)
    yield `help must say the default ${has}, as the table, got ${inHelp}`;
}

/** The faults of files with tables of options and interfaces that take them, as `path: table.option: what`. */
export function optionFaultsIn(files) {
  const tables = new Map();
  const interfaces = new Map();
  const faults = [];
  for (const [path, file] of files) {
    const text = file.getFullText();
    const visit = (node) => {
      if (ts.isVariableDeclaration(node) && node.initializer) {
        const object = ts.isAsExpression(node.initializer)
          ? node.initializer.expression
          : node.initializer;
        const options = ts.isObjectLiteralExpression(object) && optionsOf(object);
        if (options) {
          const table = node.name.getText();
          tables.set(table, options);
          for (const [name, member] of options)
            for (const fault of faultsOf(member, text))
              faults.push(`${path}: ${table}.${name}: ${fault}`);
        }
      }
      if (ts.isInterfaceDeclaration(node)) interfaces.set(node.name.text, { path, node });
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  /** The tables that an interface takes, of what it extends too. */
  const tablesOf = (name, seen = new Set()) => {
    const known = interfaces.get(name);
    if (!known || seen.has(name)) return [];
    seen.add(name);
    const bases = (known.node.heritageClauses ?? []).flatMap(({ types }) => [...types]);
    return bases.flatMap((base) => {
      const text = base.getText();
      const taken = [...text.matchAll(/typeof (\w+)/g)].map(([, table]) => table);
      return /^(Omit|Pick)/.test(text) ? [] : [...taken, ...tablesOf(text, seen)];
    });
  };
  for (const [name, { path, node }] of interfaces)
    for (const table of tablesOf(name))
      for (const member of node.members)
        if (tables.get(table)?.has(member.name?.getText()))
          faults.push(
            `${path}: ${name}.${member.name.getText()}: ${table} declares it, an interface must not`,
          );
  return { faults, count: [...tables.values()].reduce((sum, { size }) => sum + size, 0) };
}

/** The same of the repository. */
export const optionFaults = () =>
  optionFaultsIn(
    sources()
      .filter((path) => /^(common|src)\//.test(path) && !/\.test\.ts$/.test(path))
      .map((path) => [path, parse(path)]),
  );
