import { cut, many, two, visible } from "../../../page/words.js";
import { chipWords } from "./chip-words.js";
import type { TreeFacts } from "./tree-facts.js";
import { textOf, tokenText } from "./unpack-tree.js";

/** What a screen reader is told of a node of a trajectory, or of one of its tokens. */
export function spokenNode(
  { tree, turn }: TreeFacts,
  { node: id, token, trajectory }: { node: number; token: number; trajectory: number },
): string {
  const node = tree.nodes[id]!;
  if (token >= 0) {
    const text = visible(tokenText(tree, tree.tokens[node.start + token]!));
    return `token ${text}, entropy ${two(tree.entropies[node.start + token])}`;
  }
  const where = `Trajectory ${trajectory}, turn ${turn[id]! + 1}`;
  if (node.kind === "tool") {
    const { tag, what } = chipWords(tree, node);
    return `${where}, tool result. ${tag}: ${what}`;
  }
  return `${where}, ${many(node.length, "token")}: ${cut(textOf(tree, node), 120)}`;
}
