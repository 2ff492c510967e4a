import { element, fromHtml } from "../../../page/element.js";
import { table } from "../../../page/table.js";
import { resultOf } from "../tree/chip-words.js";
import { gutterColumns } from "../draw/draw-gutter.js";
import { sharedTokens } from "../tree/paths.js";
import { verdictNames } from "../tree/tree-facts.js";
import { tokenText } from "../tree/unpack-tree.js";
import { many, numberText, signed, two, visible } from "../../../page/words.js";
import type { ExplorerView, Tab } from "../view.js";
import { choicesAt, decisionCard, decisionsAt } from "./decision-card.js";
import { segmentText } from "./segment-text.js";
import { tokenCard } from "./token-card.js";
import { rulesToAsk, whatIfPanel } from "./what-if.js";

const keys: [string, string][] = [
  ["← →", "previous or next segment of the trajectory; inside a segment, token"],
  ["↑ ↓", "trajectory above or below"],
  ["Enter", "into the tokens, or unfold a tool result"],
  ["P", "the most uncertain token of the segment"],
  ["B Shift+B", "next or previous branch point"],
  ["Home End", "first or last segment"],
  ["C", "compare: keep this trajectory, then move to another (or Shift-click it)"],
  ["F", "filter: all, right, wrong"],
  ["W", "What if?"],
  ["Space", "play how the tree grew, or pause"],
  [", .", "one event back or on"],
  ["[ ]", "the policy before or after, where the tree is drawn over a run"],
  ["+ − 0", "zoom in, out, fit"],
  ["Esc", "clear"],
  ["?", "this list"],
];

/** What each key does. */
function keyTable(): HTMLElement {
  const rows = keys.map(([names, does]) => {
    const each = names.split(" ").map((name) => `<kbd>${name}</kbd> `);
    return [{ html: `<span class="ax-keys">${each.join("")}</span>` }, does];
  });
  return element(
    "div",
    {},
    element("p", { class: "ax-note" }, "While the tree has the focus:"),
    fromHtml(table(rows, undefined, { attributes: ' class="ax-table"' })),
  );
}

/** Two trajectories: what they share, where they part, and what each writes there. */
function comparison(view: ExplorerView, a: number, b: number): HTMLElement {
  const { facts } = view;
  const { tree, paths, turn } = facts;
  const [one, two] = [paths[a]!, paths[b]!];
  let common = 0;
  let shared = 0;
  while (one[common] !== undefined && one[common] === two[common]) {
    shared += tree.nodes[one[common]!]!.length;
    common++;
  }
  const until = sharedTokens(tree, a, b);
  const same = until - shared;
  // Where the first token stands that differs; the last segment where there is none.
  const at = (path: number[]) => {
    const node =
      path.find((id) => tree.nodes[id]!.depth + tree.nodes[id]!.length > until) ?? path.at(-1);
    if (node === undefined) return undefined;
    const { start, depth, length } = tree.nodes[node]!;
    const offset = until - depth;
    return { node, offset, token: offset < length ? tree.tokens[start + offset] : undefined };
  };
  const [left, right] = [at(one), at(two)];
  const words: (string | Node)[] = [element("b", {}, "Compared. ")];
  words.push(
    common > 0
      ? `They share ${shared} tokens and part after turn ${turn[one[common - 1]!]! + 1}.`
      : "They start apart, from the prompt.",
  );
  if (same > 0) words.push(` Then they have the same ${same} tokens`);
  const [first, second] = [left?.token, right?.token];
  if (first !== undefined && second !== undefined) {
    const quoted = (place: number) => element("code", {}, visible(tokenText(tree, place)));
    words.push(same > 0 ? "; then " : " First ", quoted(first), " against ", quoted(second), ".");
  } else if (same > 0) words.push(".");
  const side = (trajectory: number, place: typeof left) => {
    const answer = facts.answers[trajectory]!;
    const { score } = tree.trajectories[trajectory]!;
    return [
      element(
        "p",
        { class: "ax-note" },
        element("b", {}, `Trajectory ${trajectory}`),
        answer === "" ? "" : ` answered ${answer}`,
        score == null ? "" : `, score ${numberText(score, 3)}`,
      ),
      ...(place === undefined ? [] : [segmentText(view, place.node, place.offset)]),
    ];
  };
  return element(
    "div",
    { class: "ax-compare" },
    element("p", { class: "ax-note" }, ...words),
    ...side(a, left),
    ...side(b, right),
  );
}

/** The panel of what is selected. */
function segmentPanel(view: ExplorerView): Node[] {
  const { facts, state } = view;
  const id = state.selected;
  if (id < 0) return [howToRead(view)];
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
      const score = element("b", {}, `Score ${numberText(own.score, 3)}`);
      parts.push(
        element("p", { class: "ax-note" }, score, own.reason == null ? "" : `: ${own.reason}`),
      );
    }
  }
  parts.push(...decisionParts(view, id));
  return parts.filter((part) => part !== undefined);
}

/** What the columns at the right of the tree are, as many as there are. */
function gutterWords({ facts, layout }: ExplorerView): string[] {
  const columns = gutterColumns(layout, 0);
  const told = [
    ...(columns.answer === undefined ? [] : ["the answer"]),
    ...(facts.mean === undefined ? [] : ["the outcome"]),
    ...(columns.score && facts.mean !== undefined ? ["the score"] : []),
    ...(facts.advantages.some((each) => each !== undefined)
      ? ["what training makes of it (the advantage)"]
      : []),
  ];
  return [`${told.join(", ").replace(/, ([^,]*)$/, " and $1")}.`];
}

function howToRead(view: ExplorerView): HTMLElement {
  const { facts } = view;
  const bold = (text: string) => element("b", {}, text);
  const mark = element("b", { class: "ax-accent" }, "◆");
  const list = element("ol", {});
  for (const line of [
    ["Each lane is one ", bold("trajectory"), ", from left to right."],
    view.state.quantity === "entropy"
      ? ["Each bar is one token. A tall bar: the model ", bold("hesitated"), " (high entropy)."]
      : ["Each bar is one token: ", bold(view.measure.label), "."],
    ["Chips are ", bold("tool results"), ". Click one to unfold it."],
    [
      mark,
      " Here a trajectory ",
      bold("branched"),
      ": the lane below starts from this point. ○ It could have, but did not.",
    ],
    ...(facts.mean === undefined && facts.advantages.every((each) => each === undefined)
      ? []
      : [["On the right: ", ...gutterWords(view)]]),
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
  const signs = { right: "✓", wrong: "✗", invalid: "!", unfinished: "–" };
  const look = {
    ...{ right: "ax-right", wrong: "ax-plain", invalid: "ax-wrong", unfinished: "ax-plain" },
  };
  const told = [
    ...(verdict ? [`${signs[verdict]} ${verdictNames[verdict]}`] : []),
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

/** The panel beside the tree, or below it. */
interface Panel {
  box: HTMLElement;
  /** Writes what is selected now; What if? and Keys are written when they are opened. */
  tell: () => void;
}

const names: Record<Tab, string> = { segment: "Segment", whatif: "What if?", keys: "Keys" };

/** Segment, What if? and Keys; `below` stands at the end of the segment's. */
export function makePanel(view: ExplorerView, id: string, below: HTMLElement): Panel {
  const { state } = view;
  const tabs = (Object.keys(names) as Tab[]).filter(
    (tab) => tab !== "whatif" || rulesToAsk(view.facts.tree).length > 0,
  );
  const bodyId = `${id}-panel`;
  const body = element("div", {
    ...{ class: "ax-body", role: "tabpanel", id: bodyId, tabindex: "0" },
  });
  const list = element("div", { class: "ax-tabs", role: "tablist", "aria-label": "Panel" });
  const buttons = new Map<Tab, HTMLButtonElement>();
  for (const tab of tabs) {
    const button = element("button", {
      ...{ type: "button", role: "tab", id: `${id}-${tab}`, "aria-controls": bodyId },
    });
    button.append(names[tab]);
    button.onclick = () => view.openTab(tab);
    buttons.set(tab, button);
    list.append(button);
  }
  list.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const at = (tabs.indexOf(state.tab) + by + tabs.length) % tabs.length;
    view.openTab(tabs[at]);
    buttons.get(tabs[at]!)!.focus();
  };
  const close = element(
    "button",
    { type: "button", class: "ax-close", "aria-label": "Close the panel" },
    "×",
  );
  close.onclick = () => {
    view.openTab(undefined);
    view.scroller.focus();
  };
  const box = element(
    "div",
    { class: "ax-side" },
    element("div", { class: "ax-side-head" }, list, close),
    body,
  );
  let written: Tab | undefined;
  return {
    box,
    tell: () => {
      box.hidden = !state.isOpen;
      for (const [tab, button] of buttons) {
        button.setAttribute("aria-selected", String(tab === state.tab));
        button.tabIndex = tab === state.tab ? 0 : -1;
      }
      body.setAttribute("aria-labelledby", `${id}-${state.tab}`);
      if (!state.isOpen) {
        written = undefined;
        return;
      }
      if (state.tab === "segment") {
        body.replaceChildren(...segmentPanel(view), ...(state.selected >= 0 ? [below] : []));
      } else if (state.tab !== written) {
        body.replaceChildren(...(state.tab === "whatif" ? whatIfPanel(view) : [keyTable()]));
      }
      written = state.tab;
    },
  };
}
