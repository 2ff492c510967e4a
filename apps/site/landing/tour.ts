import { decisionOf } from "../../../src/view/explorer/page/tree/decisions.js";
import { resultOf } from "../../../src/view/explorer/page/tree/chip-words.js";
import type { ShownReplay } from "../../../src/view/explorer/page/tree/shown-replay.js";
import { tokenText } from "../../../src/view/explorer/page/tree/unpack-tree.js";
import type { TreeFacts } from "../../../src/view/explorer/page/tree/tree-facts.js";
import { signed, two } from "../../../src/view/page/words.js";

/** What a step of the tour points at. */
export interface TourPlace {
  trajectory: number;
  node: number;
  /** A token of the node, the mark after it, or the trajectory's score. */
  at: { token: number } | "node" | "mark" | "score";
}

export interface TourStep {
  title: string;
  text: string;
  /** Undefined for the last step, in which the reader changes a setting. */
  place?: TourPlace;
}

const quoted = (text: string) => `“${text.trim()}”`;

/** The tour through a tree: its places are found in the tree, by its first branch that was right. */
export function tourSteps(facts: TreeFacts, replay: ShownReplay): TourStep[] {
  const { tree, paths, verdicts, answers, advantages } = facts;
  const right = tree.trajectories.findIndex(
    ({ kind }, i) => kind === "branch" && verdicts[i] === "right",
  );
  if (right < 0) throw new RangeError("Cannot make a tour: the tree must have a right branch");
  const { parent, from, score } = tree.trajectories[right]!;
  const path = paths[parent]!;
  const after = path.slice(path.indexOf(from) + 1);
  const [node = -1, tool = -1] = after;
  const { start, length } = tree.nodes[node]!;
  const entropies = tree.entropies.subarray(start, start + length);
  const token = entropies.indexOf(Math.max(...entropies.filter((e) => !Number.isNaN(e))));
  const { width = 0, ids = [], surprises = [] } = tree.top ?? {};
  const likeliest = [0, 1].slice(0, width).map((k) => {
    const place = (start + token) * width + k;
    return `${quoted(tokenText(tree, ids[place]!))} ${Math.round(100 * Math.exp(-surprises[place]!))}%`;
  });
  const called = tree.nodes[tool]!;
  const attempt = replay.attempts.get(from)!.find(({ branch }) => branch)!;
  const { chance } = decisionOf(attempt, tree.plan.settings);
  const wrote = quoted(tokenText(tree, tree.tokens[start + token]!));
  return [
    {
      title: "Here the model hesitated.",
      text: `After the search it gave ${likeliest.join(" and ")}; trajectory ${parent} wrote ${wrote}. Tall bars are such moments: high entropy.`,
      place: { trajectory: parent, node, at: { token } },
    },
    {
      title: "Here it called a tool.",
      text: `It ran Python on ${called.tool!.input} and got ${resultOf(tree, called).trim()}. The result becomes part of the text, but is not trained on.`,
      place: { trajectory: parent, node: tool, at: "node" },
    },
    {
      title: "Here ARPO branched.",
      text: `After the search, trajectory ${right} starts from the same point: probability ${two(chance?.probability)}, drew ${two(chance?.draw)}. It gets a try of its own.`,
      place: { trajectory: right, node: from, at: "mark" },
    },
    {
      title: `This one was right: its advantage is ${signed(advantages[right])}.`,
      text: `Trajectory ${right} answered ${answers[right]}. Its score is ${score}, the group's mean ${two(facts.mean)}. Training makes its tokens more likely.`,
      place: { trajectory: right, node: paths[right]!.at(-1)!, at: "score" },
    },
    {
      title: "What if it branched less?",
      text: "Move the slider: same text, same random draws. Dashed lanes would not exist.",
    },
  ];
}
