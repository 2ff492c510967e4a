import type { ShownReplay } from "./shown-replay.js";
import type { TreeFacts } from "./tree-facts.js";
import { many, two } from "../../../page/words.js";

/** What stands below the question. */
export function summaryOf(facts: TreeFacts, replay: ShownReplay): string {
  const { truth, title } = facts.tree;
  const told = [...(truth === undefined ? [] : [`the right answer is ${truth}`]), title];
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

/** What the user asked, out of a prompt that may be a whole chat template. */
export function questionOf(prompt: string): string {
  const turns = [
    ...prompt.matchAll(/<\|im_start\|>user\n([^]*?)(?:<\|im_end\|>|$)/g),
    ...prompt.matchAll(/\[INST\]([^]*?)(?:\[\/INST\]|$)/g),
  ];
  const said = (turns.at(-1)?.[1] ?? prompt)
    .replace(/<\|[^|>]*\|>/g, "\n")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(<\/?think>|assistant|user|system):?$/i.test(line));
  return said.at(-1)?.replace(/^(user|question|q):\s*/i, "") ?? "";
}
