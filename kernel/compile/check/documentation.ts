import { withComments } from "./library.js";
import type { api, TypeScript } from "./typescript.js";

/** What a JSDoc comment says. */
export interface Documentation {
  text: string;
  tags: { name: string; text: string }[];
}

const nothing: Documentation = { text: "", tags: [] };

/**
 * The documentation of a symbol, read from the comments above its declarations. Libraries are parsed
 * without theirs (half the time and memory of a start), so it is the text that is asked.
 */
export function documentation(ts: TypeScript, symbol: api.Symbol): Documentation {
  const found = (symbol.declarations ?? [])
    .map((declaration) => commentOf(ts, declaration))
    .filter((comment) => comment !== undefined);
  const read = [...new Set(found)].map(parseComment);
  if (read.length === 0) return nothing;
  return {
    text: [...new Set(read.map(({ text }) => text))].filter((text) => text !== "").join("\n\n"),
    tags: read.flatMap(({ tags }) => tags),
  };
}

function commentOf(ts: TypeScript, declaration: api.Declaration): string | undefined {
  let node: api.Node = declaration;
  if (ts.isVariableDeclaration(node)) node = node.parent.parent;
  else if (ts.isImportSpecifier(node) || ts.isImportClause(node)) return undefined;
  const file = declaration.getSourceFile();
  const above = file.text.slice(node.pos, node.getStart(file, false));
  return lastComment(withComments(file.fileName, above));
}

/** The last comment with documentation in a text. */
export const lastComment = (text: string): string | undefined =>
  text.match(/\/\*\*[\s\S]*?(?:\*\/|$)/g)?.findLast((found) => /^\/\*\*[^]*\*\/$/.test(found));

/** What a `{@link x}` shows: its target, or what stands behind that. */
function linked(written: string): string {
  const text = written.trim();
  const at = text.search(/[|\s]/);
  return (
    (at < 0 ? "" : text.slice(at).replace(/^[|\s]+/, "")) || text.slice(0, at < 0 ? undefined : at)
  );
}

/** Splits a comment into its text and its tags; `{@link x}` becomes `x`. */
export function parseComment(comment: string): Documentation {
  const lines = comment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""));
  const parts = lines
    .join("\n")
    .trim()
    .replace(/\{@link(?:code|plain)?\s([^{}]*)\}/g, (_, written: string) => linked(written))
    .split(/^(?=@\w)/m);
  const text = parts[0]?.startsWith("@") ? "" : (parts.shift() ?? "").trim();
  const tags = parts.map((part) => {
    const [, name = "", rest = ""] = /^@(\w+)\s*([\s\S]*)$/.exec(part) ?? [];
    return { name, text: rest.trim() };
  });
  return { text, tags };
}
