import { escapeHtml } from "../../display/html.js";

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
