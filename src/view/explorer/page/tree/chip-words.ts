import type { PageNode } from "../../payload.js";
import { resultIn } from "../../../../base/text/result-block.js";
import { type PageTree, textOf } from "./unpack-tree.js";

/** What a chip says of a tool result: the tool, the fact that it gave, and how many results more. */
interface ChipWords {
  tag: string;
  what: string;
  more: number;
  failed: boolean;
}

/** What a tool gave back, without the marks around it. */
export function resultOf(tree: PageTree, node: PageNode): string {
  const text = node.text ?? textOf(tree, node);
  return resultIn(text) ?? text;
}

/** Words that say nothing by themselves, and the longest sentence of which the others are a fact. */
const small = "the a an is was are were of in on at and by to it";
const oneFact = 80;
const split = (text: string): string[] => text.toLowerCase().split(/[^\p{L}\p{N}]+/u);

/** What a sentence adds to what was asked for: of "The founding year of Hereth is 1729." the year. */
function factIn(sentence: string, asked: string): string {
  const known = new Set([...split(asked), ...split(small)]);
  const said = sentence.replace(/[.!?]$/, "");
  const fresh = said.split(/\s+/).filter((word) => split(word).some((part) => !known.has(part)));
  return fresh.length > 0 && said.length <= oneFact ? fresh.join(" ") : said;
}

/** A tool result in a few words. */
export function chipWords(tree: PageTree, node: PageNode): ChipWords {
  const { tool } = node;
  if (!tool) return { tag: "tool", what: "", more: 0, failed: false };
  const { tag } = tool;
  if (!tool.ok) return { tag, what: "failed", more: 0, failed: true };
  const out = resultOf(tree, node).trim();
  const pages = [...out.matchAll(/(?:^|\n)Page \d+: ?([^\n]*)/g)];
  const what = pages[0] ? factIn(pages[0][1]!.trim(), tool.input) : out.split("\n")[0]!;
  return {
    tag,
    what: what === "" ? "nothing" : what.slice(0, 32),
    more: Math.max(0, pages.length - 1),
    failed: false,
  };
}

/** The wordings of a chip, the longest first; its icon tells a search and a run of Python. */
export function chipForms({ tag, what, more, failed }: ChipWords): string[] {
  if (failed) return [`${tag} failed`, what];
  if (tag === "python") return [`= ${what}`, what];
  if (tag === "search") return [...(more > 0 ? [`${what} +${more}`] : []), what];
  return [`${tag}: ${what}`, what];
}
