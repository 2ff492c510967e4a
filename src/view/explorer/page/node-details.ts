import type { Replay } from "../../../rollout/replay/replay-result.js";
import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import { tableRow } from "../../page/table-row.js";
import type { Colouring } from "./colouring.js";
import { heatText } from "./heat-text.js";
import { placedPoints, type PlacedPoints } from "./placed-points.js";
import type { PageTree } from "./unpack-tree.js";

/** A node: what it is, what was decided after it, and its tokens. */
export function nodeDetails(
  tree: PageTree,
  id: number,
  colouring: Colouring,
  replay: Replay,
  looked?: (index: number) => void,
): HTMLElement {
  const node = tree.nodes[id]!;
  const number = (x: number) => numberText(x, 4);
  const kinds = { model: "the model wrote", tool: "a tool answered", end: "an end token was put" };
  const facts = [
    `node ${id}: ${kinds[node.kind]} ${node.length} tokens`,
    node.trajectory < 0 ? "taken over in the fork" : `row ${node.trajectory}, round ${node.round}`,
  ];
  if (node.entropy != null) facts.push(`segment entropy ${number(node.entropy)}`);
  if (node.reward != null) facts.push(`mean score of its rows ${number(node.reward)}`);
  if (node.stop != null) facts.push(`stopped at ${node.stop}`);
  else if (node.finish != null) facts.push(`finished by ${node.finish}`);
  if (node.began != null && node.ended != null) {
    facts.push(`${Math.round(node.ended - node.began)} ms, from ${Math.round(node.began)} ms on`);
  }
  const box = element("div", {}, element("p", {}, facts.join(" · ")));
  if (node.tool) {
    const { tag, input, ok, failure, retries, edited } = node.tool;
    const told = [ok ? "ok" : `failed (${failure?.kind}: ${failure?.message})`];
    if (node.toolMs != null) told.push(`${Math.round(node.toolMs)} ms in the tool`);
    if (retries > 0) told.push(`${retries} retries`);
    if (edited) told.push("result edited by hand");
    box.append(
      element("p", {}, element("b", {}, tag), ` ${told.join(", ")}`),
      element("pre", {}, input),
    );
  }
  const attempts = replay.attempts.filter((attempt) => attempt.node === id);
  if (attempts.length > 0) box.append(attemptTable(attempts, replay));
  const placed = placedPoints(tree, attempts.length > 0 ? [] : replay.points);
  const here = placed.filter((place) => place.node === id);
  if (here.length > 0) box.append(pointTable(here, replay));
  const tokens = Array.from({ length: node.length }, (_, i) => ({
    token: node.start + i,
    node: id,
  }));
  if (node.text != null) box.append(element("pre", {}, node.text));
  box.append(heatText(tree, colouring, tokens, `tokens of node ${id}`, looked));
  return box;
}

/** The attempts at a branch after a node, with everything that decided them. */
function attemptTable(attempts: Replay["attempts"], replay: Replay): HTMLElement {
  const heads = ["attempt", "draw u", "ΔH", "score", "bar", "chance", "outcome"];
  const table = element("table", {});
  table.append(
    element("caption", {}, `Branching by ${replay.settings.rule}`),
    tableRow("th", heads),
  );
  for (const attempt of attempts) {
    const { u, delta, score, bar, probability, branch, was, reason } = attempt;
    const before =
      was == null ? " (not tried then)" : was === branch ? "" : was ? " (it did)" : " (it did not)";
    const outcome = `${branch ? "branches" : "does not branch"}${before}: ${reason}`;
    const numbers = [u, delta, score, bar, probability].map((x) => numberText(x, 4));
    table.append(tableRow("td", [String(attempt.attempt), ...numbers, outcome]));
  }
  return element("div", { class: "arpo-wide", tabindex: "0" }, table);
}

/** The places in a node that a rule would leave rows at, and why. */
function pointTable(places: readonly PlacedPoints[], replay: Replay): HTMLElement {
  const table = element("table", {});
  table.append(
    element("caption", {}, `Branching by ${replay.settings.rule}`),
    tableRow("th", ["after tokens", "round", "order", "score", "outcome"]),
  );
  for (const { offset, points } of places) {
    for (const { round, order, score, child } of points) {
      const outcome = child === undefined ? "would be new" : `row ${child}`;
      const numbers = [offset, round, order + 1].map(String);
      table.append(tableRow("td", [...numbers, numberText(score, 4), outcome]));
    }
  }
  return element("div", { class: "arpo-wide", tabindex: "0" }, table);
}

/** A row's tokens from the prompt to its end. */
export function rowTokens(
  tree: PageTree,
  path: readonly number[],
): { token: number; node: number }[] {
  return path.flatMap((node) => {
    const { start, length } = tree.nodes[node]!;
    return Array.from({ length }, (_, i) => ({ token: start + i, node }));
  });
}
