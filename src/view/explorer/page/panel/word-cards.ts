import { element } from "../../../page/element.js";
import { percent, visible } from "../../../page/words.js";
import type { TreeFacts } from "../tree/tree-facts.js";
import { tokenText } from "../tree/unpack-tree.js";
import { type CardWord, wordCards } from "../tree/word-cards.js";

/** What led where, in words. */
function ledWords({ led }: CardWord, isScored: boolean): string {
  if (!led) return "";
  const { right, trajectories } = led;
  const [first, second, ...others] = trajectories;
  const who =
    second === undefined
      ? `trajectory ${first}`
      : others.length > 0
        ? `${first}, ${second} and ${others.length} more`
        : `${first} and ${second}`;
  if (right) return "✓ right";
  return `${isScored ? "✗ " : ""}${who}${second === undefined ? " wrote it" : ""}`;
}

/** Where most depended on one word: what else could have stood there. `tell` gives the words other probabilities. */
export function cardsBox(facts: TreeFacts): {
  box: HTMLElement;
  tell: (probability: (card: number, word: number) => number) => void;
} {
  const { tree, turn } = facts;
  const cards = wordCards(facts);
  const isScored = facts.faults.some((fault) => fault !== undefined);
  const bars: { fill: HTMLElement; told: HTMLElement }[][] = [];
  const box = element("div", { class: "ax-cards", role: "group" });
  box.setAttribute("aria-label", "What else could it have written?");
  box.hidden = cards.length === 0;
  for (const { node, before, words } of cards) {
    const rows = element("div", { class: "ax-words" });
    bars.push(
      words.map((word) => {
        const look = word.led?.right ? "ax-right" : word.led && isScored ? "ax-wrong" : "";
        const fill = element("b");
        const told = element("span", { class: "ax-number" });
        rows.append(
          element("code", {}, visible(tokenText(tree, word.place))),
          element("i", { class: look }, fill),
          told,
          element("span", { class: look }, ledWords(word, isScored)),
        );
        return { fill, told };
      }),
    );
    const said = before.replace(/\s+/g, " ");
    box.append(
      element(
        "div",
        { class: "ax-word-card" },
        element(
          "p",
          {},
          "“…",
          said,
          element("b", {}, "▁"),
          "” ",
          element("span", { class: "ax-muted" }, `turn ${turn[node]! + 1}: what else?`),
        ),
        rows,
      ),
    );
  }
  const tell = (probability: (card: number, word: number) => number) => {
    bars.forEach((own, card) =>
      own.forEach(({ fill, told }, word) => {
        const share = probability(card, word);
        fill.style.width = `${Math.max(0.6, 100 * share)}%`;
        told.textContent = share < 0.001 ? "<0.1%" : percent(share);
      }),
    );
  };
  tell((card, word) => cards[card]!.words[word]!.probability);
  return { box, tell };
}
