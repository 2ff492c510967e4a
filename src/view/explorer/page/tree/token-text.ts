import type { PageNode } from "../../payload.js";
import type { PageTree } from "./unpack-tree.js";

/** What a token says; its number where no tokenizer was there. */
export function tokenText(tree: PageTree, place: number): string {
  return tree.vocabulary.length === 0 ? `#${place} ` : (tree.vocabulary[place] ?? "");
}

/** What a node says, from a token on. */
export function textOf(tree: PageTree, { start, length }: PageNode, from = 0): string {
  let text = "";
  for (let i = start + Math.max(0, from); i < start + length; i++) {
    text += tokenText(tree, tree.tokens[i]!);
  }
  return text;
}
