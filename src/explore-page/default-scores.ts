import type { ImportedRollouts } from "../import/imported-rollouts.js";
import { deepResearch } from "../reward/deep-research.js";
import type { Scored } from "../reward/scored.js";
import { score } from "../reward/score-trees.js";

/** Scores of prompts whose file has a right answer and no scores, as ARPO's reward gives them. */
export async function defaultScores(imported: ImportedRollouts): Promise<Map<number, Scored>> {
  const scored = new Map<number, Scored>();
  for (const { index } of imported.prompts) {
    // A file's own trees stand for themselves; rows of others have the file's scores, or none were given.
    if (imported.parts.prompts[index]!.tree === undefined) continue;
    const tree = imported.tree(index);
    if (tree.task.groundTruth === undefined) continue;
    scored.set(index, await score(tree, deepResearch));
  }
  return scored;
}
