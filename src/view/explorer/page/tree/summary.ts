import type { ShownReplay } from "./shown-replay.js";
import type { TreeFacts } from "./tree-facts.js";
import { many, two } from "../../../page/words.js";

/** What stands below the question. */
export function summaryOf(facts: TreeFacts, replay: ShownReplay): string {
  const told = [facts.tree.title];
  if (replay.changed) {
    told.push(
      `${many(replay.replay.branches, "branch", "branches")} with your settings (the rollout made ${replay.replay.before})`,
    );
  }
  if (facts.mean !== undefined) {
    const right = facts.verdicts.filter((verdict) => verdict === "right").length;
    const { rightBy } = facts.tree;
    const by = rightBy === undefined ? "" : ` (${rightBy})`;
    told.push(`${right} right${by}, mean score ${two(facts.mean)}`);
  }
  return told.join(" · ");
}
