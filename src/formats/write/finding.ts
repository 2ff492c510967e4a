import { linkLetters, longestLink } from "../../base/text/link-text.js";
import type { Scored } from "../../reward/scored.js";
import { treesToJsonl } from "../../rollout/files/tree-jsonl.js";
import { withAlternatives } from "../../rollout/again/alternatives.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { type Finding, longestReason } from "../formats/finding.js";

/** A tree as one line of JSON, with no more than `alternatives` for each token. */
function findingText(tree: RolloutTree, scored: Scored | undefined, alternatives: number): string {
  const sent = withAlternatives(tree, () => alternatives);
  const ids = new Set<number>();
  for (const { tokens, top } of sent.nodes)
    for (const id of [...tokens, ...(top?.ids ?? [])]) ids.add(id);
  const { tokenizer } = tree;
  const scores = tree.trajectories.map(({ id }) => {
    const found = scored?.trajectories.find(
      ({ trajectory }) => trajectory.id === id && trajectory.tree === tree.index,
    );
    return found
      ? ([found.score.score, found.score.reason.slice(0, longestReason)] as const)
      : null;
  });
  const told: Finding = {
    finding: 1,
    ids: tokenizer ? [...ids] : [],
    words: tokenizer ? [...ids].map((id) => tokenizer.decode([id])) : [],
    ...(scored && { scores }),
    tree: JSON.parse(treesToJsonl([sent], { timing: false })) as unknown,
  };
  return JSON.stringify(told);
}

/**
 * A tree as a finding: `text` for a small file, and `letters` for a link, with as many alternatives of each token as fit. No
 * letters where the tree alone is more than a link takes.
 */
export async function findingOf(
  tree: RolloutTree,
  { scored, mostLetters = longestLink }: { scored?: Scored | undefined; mostLetters?: number } = {},
): Promise<{ text: string; letters: string | undefined }> {
  const text = findingText(tree, scored, Infinity);
  const tokens = tree.nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  // Log-probability and entropy of a token take more letters than this: nothing need be tried.
  if (tokens > mostLetters / 2) return { text, letters: undefined };
  const widest = Math.max(0, ...tree.nodes.map(({ top }) => top?.width ?? 0));
  for (const width of new Set([widest, ...[6, 5, 4, 3, 2, 1, 0].filter((one) => one < widest)])) {
    const letters = await linkLetters(width === widest ? text : findingText(tree, scored, width));
    if (letters.length <= mostLetters) return { text, letters };
  }
  return { text, letters: undefined };
}
