import { Marked, type TokenizerAndRendererExtension } from "marked";
import { escapeHtml } from "../../display/html.js";
import { highlight } from "./highlight.js";
import { mathHtml } from "./math.js";
import { safeLink, safePicture, sanitizeHtml } from "./sanitize.js";

/** Finds the picture that an address names (an attachment, a file) as a data address. */
export type PictureFinder = (address: string) => string | undefined;

function math(
  name: string,
  level: "block" | "inline",
  pattern: RegExp,
  start: string,
): TokenizerAndRendererExtension {
  return {
    name,
    level,
    start: (source: string) => {
      const at = source.indexOf(start);
      return at < 0 ? undefined : at;
    },
    tokenizer: (source: string) => {
      const match = pattern.exec(source);
      if (match === null) return undefined;
      const [raw, tex = ""] = match;
      // An environment is passed on whole; of delimited mathematics only the inside is TeX.
      return {
        type: name,
        raw,
        tex: tex.startsWith("\\begin{") ? tex : tex.trim(),
        display: level === "block" || /^(?:\$\$|\\\[)/.test(raw),
      };
    },
    renderer: (token) => mathHtml(String(token["tex"]), token["display"] === true),
  };
}

const extensions = [
  math("mathBlock", "block", /^ {0,3}\$\$([^]+?)\$\$[ \t]*(?:\n|$)/, "$$"),
  math("mathBracket", "block", /^ {0,3}\\\[([^]+?)\\\][ \t]*(?:\n|$)/, "\\["),
  math(
    "mathEnvironment",
    "block",
    /^ {0,3}(\\begin\{(\w+\*?)\}[^]+?\\end\{\2\})[ \t]*(?:\n|$)/,
    "\\begin{",
  ),
  math("mathDollars", "inline", /^\$\$([^$]+?)\$\$/, "$$"),
  math("mathInlineBracket", "inline", /^\\\[([^]+?)\\\]/, "\\["),
  math("mathParen", "inline", /^\\\(([^]+?)\\\)/, "\\("),
  // A dollar followed by a blank, or closing before a digit, is money.
  math("mathDollar", "inline", /^\$(?![\s$])((?:\\.|[^$\\`])*?)(?<!\s)\$(?!\d)/, "$"),
];

/**
 * Markdown as HTML: mathematics as MathML, code highlighted, raw HTML made harmless, pictures only
 * where they can be put inside.
 */
export function markdownHtml(text: string, picture: PictureFinder = () => undefined): string {
  const marked = new Marked({ gfm: true, async: false });
  marked.use({
    extensions,
    renderer: {
      html: ({ text: raw }) => sanitizeHtml(raw),
      code: ({ text: code, lang }) =>
        `<pre><code>${highlight(code, /^\S*/.exec(lang ?? "")?.[0] ?? "")}</code></pre>\n`,
      link({ href, title, tokens }) {
        const inside = this.parser.parseInline(tokens);
        const safe = safeLink(href);
        if (safe === undefined) return inside;
        const tip = title == null ? "" : ` title="${escapeHtml(title)}"`;
        return `<a href="${escapeHtml(safe)}"${tip} rel="noopener noreferrer">${inside}</a>`;
      },
      image({ href, title, text: alt }) {
        const inside = safePicture(href) ?? picture(href);
        const tip = title == null ? "" : ` title="${escapeHtml(title)}"`;
        if (inside !== undefined)
          return `<img src="${escapeHtml(inside)}" alt="${escapeHtml(alt)}"${tip}>`;
        const safe = safeLink(href);
        const shown = escapeHtml(alt === "" ? href : alt);
        return safe === undefined
          ? shown
          : `<a href="${escapeHtml(safe)}" rel="noopener noreferrer">${shown}</a>`;
      },
    },
  });
  return marked.parse(text) as string;
}
