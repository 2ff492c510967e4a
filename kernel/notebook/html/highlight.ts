import { escapeHtml } from "../../display/html.js";

const script =
  "abstract as asserts async await break case catch class const constructor continue debugger declare " +
  "default delete do else enum export extends false finally for from function get if implements import " +
  "in infer instanceof interface is keyof let namespace new null of override private protected public " +
  "readonly return satisfies set static super switch this throw true try type typeof undefined unique " +
  "using var void while with yield";
const python =
  "and as assert async await break class continue def del elif else except False finally for from global " +
  "if import in is lambda None nonlocal not or pass raise return True try while with yield match case";
const shell = "if then else elif fi for while do done case esac in function return export local";

interface Language {
  keywords: Set<string>;
  comment: string;
  string: string;
}

const quoted = String.raw`"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?`;
const language = (keywords: string, comment: string, string: string): Language => ({
  keywords: new Set(keywords.split(" ")),
  comment,
  string,
});
const typescript = language(
  script,
  String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`,
  `${quoted}|${"`(?:[^`\\\\]|\\\\[^])*`?"}`,
);
const languages: Record<string, Language> = {
  ts: typescript,
  typescript,
  js: typescript,
  javascript: typescript,
  json: language("true false null", String.raw`(?!)`, quoted),
  py: language(python, "#[^\\n]*", String.raw`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${quoted}`),
  python: language(python, "#[^\\n]*", String.raw`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${quoted}`),
  bash: language(shell, String.raw`(?<=^|\s)#[^\n]*`, quoted),
  sh: language(shell, String.raw`(?<=^|\s)#[^\n]*`, quoted),
};

/**
 * Code as HTML with comments, strings, numbers, keywords and calls marked. One pass of one pattern:
 * enough to read by, not a parser.
 */
export function highlight(code: string, name: string): string {
  const known = languages[name.toLowerCase()];
  if (known === undefined) return escapeHtml(code);
  const number = String.raw`\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?)n?\b`;
  const word = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
  const pattern = new RegExp(
    `(${known.comment})|(${known.string})|(${number})|(${word})(?=\\s*(\\()?)`,
    "giu",
  );
  let out = "";
  let at = 0;
  for (const match of code.matchAll(pattern)) {
    out += escapeHtml(code.slice(at, match.index));
    at = match.index + match[0].length;
    const [text, comment, string, digits, identifier, call] = match;
    const kind =
      comment !== undefined
        ? "c"
        : string !== undefined
          ? "s"
          : digits !== undefined
            ? "n"
            : known.keywords.has(identifier ?? "")
              ? "k"
              : call !== undefined
                ? "f"
                : "";
    out += kind === "" ? escapeHtml(text) : `<span class="${kind}">${escapeHtml(text)}</span>`;
  }
  return out + escapeHtml(code.slice(at));
}
