import { escapeHtml } from "../../display/html.js";
import { highlight } from "./highlight.js";
import { Marked, type TokenizerAndRendererExtension } from "marked";
import temml from "temml";

/** Longer formulas are shown as they were written: Temml takes time with the square of their length. */
const longest = 5000;

/** TeX as MathML, which browsers draw without fonts or programs; what is no TeX stays readable. */
export function mathHtml(tex: string, display: boolean): string {
  try {
    if (tex.length > longest) throw new RangeError(`TeX must have at most ${longest} characters`);
    return temml.renderToString(tex, { displayMode: display, throwOnError: true, trust: false });
  } catch {
    // A formula that Temml does not know is shown as it was written.
    const shown = `<code>${escapeHtml(display ? `$$${tex}$$` : `$${tex}$`)}</code>`;
    return display ? `<p>${shown}</p>` : shown;
  }
}

const tags = new Set(
  (
    "a abbr b blockquote br caption center cite code col colgroup dd del details dfn div dl dt em " +
    "figcaption figure font h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp " +
    "small span strike strong sub summary sup table tbody td tfoot th thead tr tt u ul var wbr"
  ).split(" "),
);
const attributes = new Set(
  (
    "align alt cellpadding cellspacing class color colspan dir height href id lang open reversed " +
    "rowspan span src start style title valign width"
  ).split(" "),
);
const isVoid = new Set(["br", "col", "hr", "img", "wbr"]);

/** An address a page may link to; undefined for anything that could run a program. */
export function safeLink(address: string): string | undefined {
  // Browsers ignore control characters and blanks in a scheme: `java\nscript:` runs.
  const plain = address.replace(/[\u0000-\u0020]+/g, "").toLowerCase();
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(plain)?.[1];
  return scheme === undefined || ["http", "https", "mailto"].includes(scheme) ? address : undefined;
}

/** A picture a page may show without a network: only one that is inside it. */
export function safePicture(address: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp|svg\+xml|avif);/i.test(address) ? address : undefined;
}

/** What a style may compute; everything else, such as `url()` and `image-set()`, may fetch. */
const styleFunctions = new Set(
  "calc clamp color color-mix hsl hsla hwb lab lch max min oklab oklch rgb rgba var".split(" "),
);

/** Longer styles are dropped. */
const longestStyle = 4000;
/** More than the longest of the names above, with the blanks behind it. */
const longestName = 32;

/** Whether a style fetches nothing, runs nothing and stays in its place. */
function safeStyle(style: string): boolean {
  // Escapes and comments could spell a name so that it is not found here.
  if (/\\|\/\*|@|expression|position\s*:\s*(?:fixed|sticky|absolute)/i.test(style)) return false;
  if (style.length > longestStyle) return false;
  // The names before the brackets: each is looked at from its end, so that none is read twice.
  const pieces = style.split("(").slice(0, -1);
  return pieces.every((piece) => {
    const name = /[\w-]*$/.exec(piece.slice(-longestName).trimEnd())![0];
    return styleFunctions.has(name.toLowerCase());
  });
}

const entity: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));?/gi,
    (all, dec, hex, name) => {
      if (name !== undefined) return entity[String(name).toLowerCase()] ?? all;
      const code = dec !== undefined ? Number(dec) : parseInt(String(hex), 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
    },
  );
}

function cleanAttribute(tag: string, name: string, value: string): string {
  if (!attributes.has(name)) return "";
  if (name === "href" && safeLink(value) === undefined) return "";
  if (name === "src" && (tag !== "img" || safePicture(value) === undefined)) return "";
  if (name === "style" && !safeStyle(value)) return "";
  return ` ${name}="${escapeHtml(value)}"`;
}

function cleanTag(all: string, close: string, name: string, rest: string): string {
  const tag = name.toLowerCase();
  if (!tags.has(tag)) return escapeHtml(all);
  if (close !== "") return isVoid.has(tag) ? "" : `</${tag}>`;
  let out = `<${tag}`;
  for (const match of rest.matchAll(
    /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g,
  )) {
    const [, attribute = "", double, single, bare] = match;
    out += cleanAttribute(tag, attribute.toLowerCase(), decode(double ?? single ?? bare ?? ""));
  }
  return `${out}>`;
}

/**
 * HTML as a Markdown cell may carry it: known tags and attributes written anew, everything else as
 * text. Programs, frames, forms and addresses that run something do not pass.
 */
export function sanitizeHtml(html: string): string {
  let out = "";
  let at = 0;
  for (const match of html.matchAll(
    /<!--[^]*?(?:-->|$)|<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:"[^"]*"|'[^']*'|[^"'<>])*)>/g,
  )) {
    out += html.slice(at, match.index).replace(/</g, "&lt;");
    at = match.index + match[0].length;
    if (match[2] !== undefined) out += cleanTag(match[0], match[1] ?? "", match[2], match[3] ?? "");
  }
  return out + html.slice(at).replace(/</g, "&lt;");
}

/** Finds the picture that an address names (an attachment, a file) as a data address. */
type PictureFinder = (address: string) => string | undefined;

/** The longest formula: what is longer is text in which nothing is closed. */
const longestFormula = 5000;

/** How mathematics is delimited: what it begins and ends with, and what must follow the end. */
interface Delimiters {
  name: string;
  level: "block" | "inline";
  /** What it begins with. */
  open: string;
  /** What it ends with, where it ends; undefined where what begins there is no mathematics. */
  end: (source: string, from: number) => { inner: number; to: number } | undefined;
}

/** The next place of a mark, no further than a formula is long. */
function next(source: string, mark: string, from: number): number {
  return source.slice(from, from + longestFormula).indexOf(mark) + from;
}

/** Mathematics that ends at a mark, and is not empty. */
const until =
  (close: string) =>
  (source: string, from: number): { inner: number; to: number } | undefined => {
    const at = next(source, close, from + 1);
    return at <= from ? undefined : { inner: at, to: at + close.length };
  };

/** An environment, which ends with its own name. */
function environmentEnd(source: string, from: number): { inner: number; to: number } | undefined {
  const name = /^(\w{1,40}\*?)\}/.exec(source.slice(from, from + 50))?.[1];
  if (name === undefined) return undefined;
  const close = `\\end{${name}}`;
  const at = next(source, close, from + name.length + 2);
  return at <= from ? undefined : { inner: at + close.length, to: at + close.length };
}

/** A dollar followed by a blank, or closing before a digit, is money. */
function dollarEnd(source: string, from: number): { inner: number; to: number } | undefined {
  if (/^[\s$]/.test(source.slice(from, from + 1))) return undefined;
  const most = Math.min(source.length, from + longestFormula);
  for (let at = from; at < most; at++) {
    const sign = source[at]!;
    if (sign === "`") return undefined;
    if (sign === "\\") at++;
    else if (sign === "$") {
      const closes = !/\s/.test(source[at - 1]!) && !/\d/.test(source[at + 1] ?? "");
      return closes ? { inner: at, to: at + 1 } : undefined;
    }
  }
  return undefined;
}

function math({ name, level, open, end }: Delimiters): TokenizerAndRendererExtension {
  return {
    name,
    level,
    start: (source: string) => {
      const at = source.indexOf(open);
      return at < 0 ? undefined : at;
    },
    tokenizer: (source: string) => {
      const indent = level === "block" ? /^ {0,3}/.exec(source)![0].length : 0;
      if (!source.startsWith(open, indent)) return undefined;
      const found = end(source, indent + open.length);
      if (found === undefined) return undefined;
      let { to } = found;
      if (level === "block") {
        // Nothing may follow on the line.
        while (source[to] === " " || source[to] === "\t") to++;
        if (to < source.length && source[to] !== "\n") return undefined;
        to++;
      }
      const isEnvironment = open === "\\begin{";
      // An environment is passed on whole; of delimited mathematics only the inside is TeX.
      const from = isEnvironment ? indent : indent + open.length;
      const tex = source.slice(from, found.inner);
      return {
        type: name,
        raw: source.slice(0, to),
        tex: isEnvironment ? tex : tex.trim(),
        display: level === "block" || open === "$$" || open === "\\[",
      };
    },
    renderer: (token) => mathHtml(String(token["tex"]), token["display"] === true),
  };
}

const delimiters: Delimiters[] = [
  { name: "mathBlock", level: "block", open: "$$", end: until("$$") },
  { name: "mathBracket", level: "block", open: "\\[", end: until("\\]") },
  { name: "mathEnvironment", level: "block", open: "\\begin{", end: environmentEnd },
  { name: "mathDollars", level: "inline", open: "$$", end: until("$$") },
  { name: "mathInlineBracket", level: "inline", open: "\\[", end: until("\\]") },
  { name: "mathParen", level: "inline", open: "\\(", end: until("\\)") },
  { name: "mathDollar", level: "inline", open: "$", end: dollarEnd },
];
const extensions = delimiters.map(math);

/** Longer texts are shown as they were written. */
const longestDocument = 100_000;
/** So are texts with a longer paragraph, or more marks in one: reading it takes time with its square. */
const longestParagraph = 10_000;
const mostMarks = 1000;
/** And those with deeper lists or quotes, and lines of so many in all. */
const deepest = 24;
const mostLines = 3000;

const fence = /^ {0,3}(```|~~~)/;
const nested = new RegExp(`^(?:[ \\t]*(?:>|[-*+]|\\d{1,9}[.)])){${deepest}}`);
/** What a line of its own begins with: a table, a list, a heading. */
const ownLine = /^\s*(?:\||[-*+] |\d{1,9}[.)] |#)/;

/** Whether a text would take long to read, by what it is made of. */
function isHard(text: string): boolean {
  if (text.length > longestDocument) return true;
  let fenced: string | undefined;
  let [length, marks] = [0, 0];
  const lines = text.split("\n");
  if (lines.length > mostLines) return true;
  for (const line of lines) {
    const mark = fence.exec(line)?.[1];
    if (fenced !== undefined) {
      if (mark === fenced) fenced = undefined;
      continue;
    }
    if (mark !== undefined) fenced = mark;
    if (line.trim() === "" || ownLine.test(line)) [length, marks] = [0, 0];
    length += line.length;
    marks += (line.match(/[^\p{L}\p{N}\s.,]/gu) ?? []).length;
    if (length > longestParagraph || marks > mostMarks || nested.test(line)) return true;
  }
  return false;
}

/** A text as it was written. */
const plainHtml = (text: string): string => `<pre>${escapeHtml(text)}</pre>\n`;

/**
 * Markdown as HTML: mathematics as MathML, code highlighted, raw HTML made harmless, pictures only
 * where they can be put inside.
 */
export function markdownHtml(text: string, picture: PictureFinder = () => undefined): string {
  if (isHard(text)) return plainHtml(text);
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
  try {
    return marked.parse(text) as string;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return plainHtml(text); // nested deeper than the stack
  }
}
