import { many, percent, visible } from "../../page/words.js";
import { tokenText } from "../../explorer/page/tree/unpack-tree.js";
import { wordAt } from "../../explorer/page/tree/what-stands-out.js";
import type { ShownLoop } from "./shown-loop.js";

/** A sentence: what is said first, and the rest. */
export type Said = readonly [first: string, rest: string];

const quoted = (text: string) => `“${visible(text.trim())}”`;
const listed = (words: readonly string[]) => words.join(", ").replace(/, ([^,]*)$/, " and $1");

/** What stands below the question. */
export function aboutWords({ facts, payload }: ShownLoop): string {
  const { trajectories, truth } = facts.tree;
  const right = truth === undefined ? "" : `The right answer is ${truth}. `;
  return `${right}${many(trajectories.length, "try", "tries")} of one policy, then ${many(payload.updates, "update")}.`;
}

/** The right word of each card, as the tree has it. */
const rightWords = ({ facts, cards }: ShownLoop): string[] => [
  ...new Set(cards.map(({ node, token }) => wordAt(facts.tree, node, token).text)),
];

/** The word on the cards that training made most of: its card, its word, and what it was given before and after. */
function learned(loop: ShownLoop, step: number) {
  const all = loop.cards.map(({ words }, card) => ({
    word: tokenText(loop.facts.tree, words[0]!.place),
    before: loop.chance(card, 0, 0),
    after: loop.chance(card, 0, step),
  }));
  return all.sort((a, b) => b.after - b.before - (a.after - a.before))[0];
}

/** What an act says. */
export function actWords(loop: ShownLoop, act: number, step: number): Said {
  const { facts, replay, payload } = loop;
  if (act <= 1) {
    const words = rightWords(loop).map(quoted);
    const where =
      words.length > 0
        ? ` Most of all at ${listed(words)}: it could well have written something else.`
        : "";
    return [
      "Tall bars are hesitation.",
      ` The agent writes, calls a tool, reads what it gave, and goes on.${where}`,
    ];
  }
  if (act === 2) {
    const why =
      replay.chances.size > 0
        ? " The bar beside it says why: what a coin gives, what entropy adds, and where the draw fell."
        : "";
    return [
      "Where it became less sure it tries again.",
      ` ◆ starts another try from the same place, ○ does not.${why}`,
    ];
  }
  if (act === 3) {
    const right = facts.verdicts.filter((verdict) => verdict === "right").length;
    return facts.faults.some((fault) => fault !== undefined)
      ? [
          "Every wrong answer left a right path at one word.",
          " It is marked ✗. Right tries get a positive advantage, the others a negative one.",
        ]
      : [
          `${right} of ${facts.verdicts.length} are right.`,
          " Each is compared with the group: that is its advantage.",
        ];
  }
  if (step < 1)
    return [
      "Now train.",
      " The same tries, the same words: only the model changes. Watch the bars sink.",
    ];
  const right = (at: number) => Math.round(payload.fresh[at]!.share * payload.tries);
  const gain = learned(loop, step);
  const word = gain
    ? ` It writes ${quoted(gain.word)} with ${percent(gain.after)}, was ${percent(gain.before)};`
    : "";
  return [
    `After ${many(step, "update")}:`,
    `${word} ${right(step)} of ${payload.tries} fresh tries are right, ${right(0)} were before.`,
  ];
}
