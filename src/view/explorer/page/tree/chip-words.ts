import type { PageNode } from "../../payload.js";
import { resultIn } from "../../../../base/text/result-block.js";
import { type PageTree, textOf } from "./unpack-tree.js";

/** What a chip says of a tool result: the tool and what it gave, in a few words. */
interface ChipWords {
  tag: string;
  what: string;
  failed: boolean;
}

/** What a tool gave back, without the marks around it. */
export function resultOf(tree: PageTree, node: PageNode): string {
  const text = node.text ?? textOf(tree, node);
  return resultIn(text) ?? text;
}

/** A tool result in a few words. */
export function chipWords(tree: PageTree, node: PageNode): ChipWords {
  const { tool } = node;
  if (!tool) return { tag: "tool", what: "", failed: false };
  if (!tool.ok) return { tag: tool.tag, what: "failed", failed: true };
  const out = resultOf(tree, node).trim();
  const pages = (out.match(/(^|\n)Page \d+:/g) ?? []).length;
  const what =
    pages > 0
      ? `${pages} result${pages > 1 ? "s" : ""}`
      : out === ""
        ? "nothing"
        : out.split("\n")[0]!.slice(0, 24);
  return { tag: tool.tag, what, failed: false };
}

/** The wordings of a chip, the longest first; the last is empty: an icon alone. */
export const chipForms: ((words: ChipWords) => string)[] = [
  ({ tag, what }) => `${tag} → ${what}`,
  ({ tag, what }) => `${tag} → ${short(what)}`,
  ({ what }) => `→ ${what}`,
  ({ what }) => `→ ${short(what)}`,
  ({ what }) => short(what),
];

const short = (what: string) => what.replace(/ results?$/, "");
