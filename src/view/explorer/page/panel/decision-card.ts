import { element, fromHtml, svgElement } from "../../../page/element.js";
import { table } from "../../../page/table.js";
import type { BranchSettings } from "../../../../rollout/rules/decide-branch.js";
import { choiceWords, decisionOf, type Decision } from "../tree/decisions.js";
import { ruleName } from "../../payload.js";
import { two } from "../../../page/words.js";
import type { ExplorerView } from "../view.js";

/** The decisions after a node, with the settings that are chosen. */
export function decisionsAt({ facts, replay }: ExplorerView, node: number): Decision[] {
  const settings = replay.replay.settings as BranchSettings;
  const children = new Map<string, number>();
  for (const { trajectory, round, attempt, child } of facts.tree.nodes[node]!.branch ?? []) {
    if (child !== undefined) children.set(`${trajectory} ${round} ${attempt}`, child);
  }
  return (replay.attempts.get(node) ?? []).map((each) =>
    decisionOf(each, settings, children.get(`${each.trajectory} ${each.round} ${each.attempt}`)),
  );
}

/** Places in a node that a rule chose, in words. */
export function choicesAt({ facts, replay, state }: ExplorerView, node: number): string[] {
  if (replay.attempts.size > 0) return [];
  const rule = ruleName(facts.tree.titles, state.whatIf.rule);
  const chosen = replay.chosen.get(node) ?? [];
  if (chosen.length > 0) {
    return chosen.map(({ round, order, score, child }) => {
      const where = child === undefined ? "new branch, text unknown" : `trajectory ${child}`;
      return `Branched → ${where}. ${choiceWords(rule, round, order, score)}`;
    });
  }
  return replay.changed ? [] : facts.born[node]!.map((child) => `Branched → trajectory ${child}`);
}

/** A bar from 0 to 1: up to the probability it branches, and where the draw fell. */
export function chanceBar({ chance }: Decision): SVGElement | undefined {
  if (!chance) return undefined;
  const wide = 230;
  const { probability, draw } = chance;
  const [at, drew] = [wide * probability, wide * draw];
  const label = `probability ${two(probability)}, drew ${two(draw)}`;
  const text = (x: number, y: number, words: string, anchor: string, name = "") => {
    const made = svgElement("text", { x, y, "text-anchor": anchor, class: name });
    made.textContent = words;
    return made;
  };
  return svgElement(
    "svg",
    { class: "ax-chance", viewBox: `0 0 ${wide} 40`, role: "img", "aria-label": label },
    svgElement("rect", { x: 0, y: 16, width: wide, height: 8, rx: 4, class: "ax-all" }),
    svgElement("rect", { x: 0, y: 16, width: at, height: 8, rx: 4, class: "ax-part" }),
    svgElement("path", { d: `M${drew} 12v16`, class: "ax-drew" }),
    text(Math.max(100, Math.min(wide - 2, at)), 10, `branches up to ${two(probability)}`, "end"),
    text(Math.max(34, Math.min(wide - 34, drew)), 39, `drew ${two(draw)}`, "middle", "ax-strong"),
  );
}

/** A decision with everything that decided it. */
export function decisionCard(decision: Decision): HTMLElement {
  const { branch, child, chance, words, facts } = decision;
  const outcome = !branch
    ? "No"
    : child === undefined
      ? "Yes: a new branch, text unknown"
      : `Yes: trajectory ${child} starts here`;
  const limit = chance
    ? branch
      ? `Not above ${two(chance.probability)}: it branched.`
      : `Above ${two(chance.probability)}: no branch.`
    : words;
  return element(
    "div",
    { class: `ax-decision${branch ? " ax-yes" : ""}` },
    element("p", {}, element("b", {}, outcome)),
    chanceBar(decision) as Node | undefined,
    element("p", { class: "ax-note" }, words),
    fromHtml(table(facts, undefined, { attributes: ' class="ax-table"' })),
    chance && element("p", { class: "ax-note" }, element("b", {}, limit)),
  );
}
