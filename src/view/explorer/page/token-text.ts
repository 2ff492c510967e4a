import type { PageTree } from "./unpack-tree.js";

/** What a token says; its number where no tokenizer was there. */
export function tokenText(tree: PageTree, place: number): string {
  return tree.vocabulary.length === 0 ? `#${place} ` : (tree.vocabulary[place] ?? "");
}
