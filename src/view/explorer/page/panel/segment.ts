import { element } from "../../../page/element.js";
import { resultOf } from "../tree/chip-words.js";
import { many, signed, two } from "../tree/words.js";
import type { ExplorerView } from "../view.js";
import { comparison } from "./compare.js";
import { choicesAt, decisionCard, decisionsAt } from "./decision-card.js";
import { segmentText } from "./segment-text.js";
import { tokenCard } from "./token-card.js";

/** The panel of what is selected. */
export function segmentPanel(view: ExplorerView): Node[] {
  const { facts, state } = view;
  const id = state.selected;
  if (id < 0) return [howToRead()];
  const node = facts.tree.nodes[id]!;
  const { trajectory } = state;
  const own = facts.tree.trajectories[trajectory]!;
  const parts: (Node | undefined)[] = [head(view, id), originOf(view, trajectory)];
  if (state.compared >= 0 && state.compared !== trajectory) {
    parts.push(comparison(view, trajectory, state.compared));
  }
  const title = (text: string) => element("h3", {}, text);
  const note = (text: string) => element("p", { class: "ax-note" }, text);
  if (node.kind === "tool") {
    const { tool } = node;
    if (tool) parts.push(title(`${tool.tag} was called with`), element("pre", {}, tool.input));
    const result = resultOf(facts.tree, node);
    parts.push(title("Tool result"), element("pre", {}, result === "" ? "(empty)" : result));
    parts.push(note(toolFacts(view, id)));
  } else {
    parts.push(title("The model wrote"));
    if (node.text != null) parts.push(element("pre", {}, node.text));
    parts.push(segmentText(view, id), note(segmentFacts(view, id)));
    if (state.token >= 0) parts.push(tokenCard(facts.tree, node.start + state.token));
    if (facts.paths[trajectory]!.at(-1) === id && own.score != null) {
      const score = element("b", {}, `Score ${Number(own.score.toPrecision(3))}`);
      parts.push(
        element("p", { class: "ax-note" }, score, own.reason == null ? "" : `: ${own.reason}`),
      );
    }
  }
  parts.push(...decisionParts(view, id));
  return parts.filter((part) => part !== undefined);
}

function howToRead(): HTMLElement {
  const bold = (text: string) => element("b", {}, text);
  const mark = element("b", { class: "ax-accent" }, "◆");
  const list = element("ol", {});
  for (const line of [
    ["Each lane is one ", bold("trajectory"), ", from left to right."],
    ["Each bar is one token. Tall and dark: the model ", bold("hesitated"), " (high entropy)."],
    ["Chips are ", bold("tool results"), ". Click one to unfold it."],
    [
      mark,
      " Here a trajectory ",
      bold("branched"),
      ": the lane below starts from this point. ○ It could have, but did not.",
    ],
    ["On the right: the answer, its score and what training makes of it (the advantage)."],
  ]) {
    list.append(element("li", {}, ...line));
  }
  return element(
    "div",
    { class: "ax-how" },
    element("h3", {}, "How to read this tree"),
    list,
    element("p", { class: "ax-note" }, "Select anything in the tree for its details."),
  );
}

function head({ facts, state }: ExplorerView, id: number): HTMLElement {
  const { trajectory } = state;
  const verdict = facts.verdicts[trajectory];
  const advantage = facts.advantages[trajectory];
  const words = { right: "✓ right", wrong: "✗ wrong", invalid: "! invalid format" };
  const look = { right: "ax-right", wrong: "ax-plain", invalid: "ax-wrong" };
  const told = [
    ...(verdict ? [words[verdict]] : []),
    ...(advantage === undefined ? [] : [`advantage ${signed(advantage)}`]),
  ].join(" · ");
  const isTaken = facts.tree.nodes[id]!.trajectory < 0;
  return element(
    "div",
    { class: "ax-head-line" },
    element("b", {}, `Trajectory ${trajectory}`),
    element("span", {}, `turn ${facts.turn[id]! + 1} of ${facts.turns}`),
    told === ""
      ? undefined
      : element("span", { class: `ax-chip ${verdict ? look[verdict] : "ax-plain"}` }, told),
    isTaken ? element("span", {}, "taken over from the tree it was forked from") : undefined,
  );
}

function originOf({ facts }: ExplorerView, trajectory: number): HTMLElement | undefined {
  const { kind, parent, from } = facts.tree.trajectories[trajectory]!;
  const text =
    kind === "branch" && from >= 0
      ? `Branch of trajectory ${parent}, after turn ${facts.turn[from]! + 1}.`
      : kind === "refill"
        ? "A refill: it starts anew from the prompt."
        : undefined;
  return text === undefined ? undefined : element("p", { class: "ax-note" }, text);
}

function toolFacts({ facts }: ExplorerView, id: number): string {
  const { length, tool, toolMs } = facts.tree.nodes[id]!;
  const told = [`${many(length, "token")}. Not trained on.`];
  if (tool && !tool.ok) told.push(`It failed (${tool.failure?.kind}: ${tool.failure?.message}).`);
  if (tool && tool.retries > 0) told.push(`${tool.retries} retries.`);
  if (tool?.edited) told.push("Result edited by hand.");
  if (toolMs != null) told.push(`${Math.round(toolMs)} ms in the tool.`);
  return told.join(" ");
}

function segmentFacts({ facts }: ExplorerView, id: number): string {
  const { tree } = facts;
  const { start, length, entropy, reward, stop, finish, began, ended } = tree.nodes[id]!;
  const highest = tree.entropies
    .subarray(start, start + length)
    .reduce((most, x) => (x > most ? x : most), -1);
  const told = [many(length, "token")];
  if (highest >= 0) told.push(`highest entropy ${two(highest)}`);
  if (entropy != null) told.push(`entropy used by the rule ${two(entropy)}`);
  if (reward != null) told.push(`mean score of its trajectories ${two(reward)}`);
  if (stop != null) told.push(`stopped at ${stop}`);
  else if (finish != null) told.push(`finished by ${finish}`);
  if (began != null && ended != null) told.push(`${Math.round(ended - began)} ms`);
  return told.join(" · ");
}

/** Was there a decision at this node, or at the tool result after it? */
function decisionParts(view: ExplorerView, id: number): Node[] {
  const { facts } = view;
  const { trajectory } = facts.tree.nodes[id]!;
  const after = facts.tree.nodes.findIndex(
    ({ parent, kind, trajectory: by }) => parent === id && kind === "tool" && by === trajectory,
  );
  const place = decisionsAt(view, id).length > 0 ? id : after;
  const decisions = place >= 0 ? decisionsAt(view, place) : [];
  if (decisions.length > 0) {
    return [element("h3", {}, "Did it branch here?"), ...decisions.map(decisionCard)];
  }
  const choices = choicesAt(view, id);
  if (choices.length === 0) return [];
  const list = choices.map((words) => element("p", {}, words));
  return [
    element("h3", {}, "Branches from here"),
    element("div", { class: "ax-decision ax-yes" }, ...list),
  ];
}
