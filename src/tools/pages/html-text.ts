/** Elements whose content is not for reading. */
const hidden = new Set(
  "script style noscript template svg math head iframe object canvas nav footer form button select".split(
    " ",
  ),
);
/** Elements that never have an end tag. */
const empty = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
/** Elements that begin a line of their own. */
const block = new Set(
  "address article aside blockquote br dd div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tbody td th thead tr ul".split(
    " ",
  ),
);
const entities: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  shy: "",
  copy: "©",
  reg: "®",
  trade: "™",
  deg: "°",
  plusmn: "±",
  middot: "·",
  bull: "•",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  times: "×",
  divide: "÷",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  sect: "§",
  para: "¶",
  frac12: "½",
  sup2: "²",
  sup3: "³",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  ecirc: "ê",
  agrave: "à",
  aacute: "á",
  acirc: "â",
  ccedil: "ç",
  ntilde: "ñ",
  oacute: "ó",
  iacute: "í",
  uacute: "ú",
  aring: "å",
  Aring: "Å",
  oslash: "ø",
  Oslash: "Ø",
  aelig: "æ",
  AElig: "Æ",
  minus: "−",
  le: "≤",
  ge: "≥",
  ne: "≠",
  infin: "∞",
  pi: "π",
  alpha: "α",
  beta: "β",
  gamma: "γ",
  delta: "δ",
  rarr: "→",
};

/** Character references turned into characters; unknown ones stay as they are. */
function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]*);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return Object.hasOwn(entities, name) ? entities[name]! : whole;
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      ? String.fromCodePoint(code)
      : "\ufffd";
  });
}

/** One piece of a page: text, or a tag with its name and whether it closes. */
function* pieces(
  html: string,
): Generator<{ text?: string; tag?: string; closing?: boolean; end: number }> {
  const opening = /<!--|<(\/?)([a-zA-Z][^\s/>]*)|<[!?]/g;
  let at = 0;
  for (let match = opening.exec(html); match; match = opening.exec(html)) {
    if (match.index > at) yield { text: html.slice(at, match.index), end: match.index };
    const mark = match[0] === "<!--" ? "-->" : ">";
    const end =
      match[0] === "<!--" ? html.indexOf(mark, match.index + 4) : tagEnd(html, opening.lastIndex);
    at = end < 0 ? html.length : end + mark.length;
    opening.lastIndex = at;
    if (match[2]) yield { tag: match[2].toLowerCase(), closing: match[1] === "/", end: at };
  }
  if (at < html.length) yield { text: html.slice(at), end: html.length };
}

/** Where a tag ends; a ">" inside a quoted attribute is not it. */
function tagEnd(html: string, from: number): number {
  let quote = "";
  for (let i = from; i < html.length; i++) {
    const c = html[i]!;
    if (quote !== "") {
      if (c === quote) quote = "";
    } else if (c === ">") return i;
    else if ((c === '"' || c === "'") && html[i - 1] === "=") quote = c;
  }
  return -1;
}

/**
 * The readable text of an HTML page: without scripts, styles, navigation and forms, one line per
 * block.
 */
export function htmlText(html: string): string {
  let out = "";
  let within: string | undefined;
  let depth = 0;
  for (const { text, tag, closing } of pieces(html)) {
    if (within !== undefined) {
      if (tag === within) depth += closing ? -1 : 1;
      if (depth === 0) within = undefined;
    } else if (text !== undefined) out += text;
    else if (tag !== undefined && hidden.has(tag) && !closing) {
      within = tag;
      depth = 1;
    } else if (tag !== undefined && block.has(tag)) out += "\n";
    else if (tag !== undefined && empty.has(tag)) out += " ";
  }
  return decodeEntities(out)
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
}
