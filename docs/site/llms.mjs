// `llms.txt`: the pages of the documentation with a sentence each, for models (llmstxt.org).

/** A text without its marks: links as their words, on one line. */
const plain = (text) =>
  text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]+/g, "")
    .replace(/(^|\s)_([^_]+)_(?=\W|$)/g, "$1$2")
    .replace(/\s+/g, " ")
    .trim();

/** Characters of a paragraph that says something. */
const shortest = 20;

/** The first paragraph of a page, up to its first sentence's end. */
export function firstSentence(text) {
  const body = text.replace(/^---\n[^]*?\n---\n/, "").replace(/```[^]*?```/g, "");
  const paragraph = body
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .find((part) => part.length > shortest && !/^(?:#|\||<|- |\d+\. |!\[)/.test(part));
  const whole = plain(paragraph ?? "");
  const end = /[.:](?=\s+[A-Z`]|$)/.exec(whole)?.index ?? whole.length;
  return whole.slice(0, Math.min(end, 240));
}

/**
 * The file's text. `about`: the package in a sentence; `groups`: the sidebar's, of titles with pages by name; `read`
 * gives a page's text, undefined where there is none.
 */
export function llmsText(about, groups, read) {
  const sections = groups.flatMap(({ text, items }) => {
    const lines = items.flatMap(([title, page]) => {
      const found = read(page);
      if (found === undefined) return [];
      const sentence =
        page === "reference/index" ? "every export with its types" : firstSentence(found);
      return [`- [${title}](${page}.html)${sentence === "" ? "" : `: ${sentence}`}`];
    });
    return lines.length === 0 ? [] : [`## ${text}\n\n${lines.join("\n")}\n`];
  });
  return [`# arpo-lab\n`, `> ${about}\n`, ...sections].join("\n");
}
