import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import { tableRow } from "../../page/table-row.js";
import type { BranchingPayload, ShownPoint, ShownRule } from "../payload.js";

/** A place's numbers, the text around it, and why the rule takes it. */
export function pointDetails(
  { trajectories }: BranchingPayload,
  rule: ShownRule,
  point: ShownPoint,
): HTMLElement {
  const { trajectory, at, place, scores, round, orders, children, numbers, why } = point;
  const differ = new Set(scores).size > 1;
  const of = trajectories.find((one) => one.id === trajectory)!.length;
  const times = orders.length === 1 ? "one branch" : `${orders.length} branches`;
  const told = element(
    "p",
    {},
    element("b", {}, rule.name),
    `, round ${round}: ${times} of row ${trajectory} after ${at} of its ${of} tokens. ${why}.`,
  );
  const around = element(
    "div",
    { class: "arpo-around" },
    point.before,
    element("b", {}, point.token === "" ? "∎" : point.token),
    point.after,
  );
  const body = element(
    "tbody",
    {},
    tableRow("td", [
      differ ? "scores" : "score",
      (differ ? scores : scores.slice(0, 1)).map((score) => numberText(score, 4)).join(", "),
    ]),
    tableRow("td", ["order", orders.map((order) => order + 1).join(", ")]),
    tableRow("td", ["place of the token", String(place)]),
    ...numbers.map(([name, value]) => tableRow("td", [name, numberText(value, 4)])),
    tableRow("td", [
      "in the tree",
      children.length > 0 ? `row ${children.join(", ")}` : "no: what would be written is not known",
    ]),
  );
  return element("div", {}, told, around, element("table", {}, body));
}
