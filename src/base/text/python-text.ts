// The reference's text rules are Python's, and Python and JavaScript disagree about which characters
// are white space and which end a word. These are Python's answers.

/** Python's white space: unlike `\s` it has U+001C to U+001F and U+0085, and not U+FEFF. */
const space =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const spaces = new RegExp(`[${space}]+`, "u");
const oneSpace = new RegExp(`[${space}]`, "u");
// \b in Python is where letters, digits or "_" of any script begin or end.
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
const asciiPunctuation = /[!-/:-@[-`{-~]/g;

/** `text.split()`: the words between runs of white space. */
export function words(text: string): string[] {
  return text.split(spaces).filter((word) => word !== "");
}

/** `text.strip()`. */
export function strip(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && oneSpace.test(text[start]!)) start++;
  while (end > start && oneSpace.test(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Replaces the words a, an and the by a space. */
export function withoutArticles(text: string): string {
  return text.replace(articles, " ");
}

/** Drops ASCII punctuation; other scripts' punctuation stays. */
export function withoutPunctuation(text: string): string {
  return text.replace(asciiPunctuation, "");
}

/** How often a piece occurs, without overlaps. */
export function count(text: string, piece: string): number {
  return text.split(piece).length - 1;
}
