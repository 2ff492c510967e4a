import { element } from "../../../page/element.js";
import { tableRow } from "../../../page/table-row.js";

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
  ["+ − 0", "zoom in, out, fit"],
  ["Esc", "clear"],
  ["?", "this list"],
];

/** What each key does. */
export function keyTable(): HTMLElement {
  const table = element("table", { class: "ax-table" });
  for (const [names, does] of keys) {
    const cell = element("span", { class: "ax-keys" });
    for (const name of names.split(" ")) cell.append(element("kbd", {}, name), " ");
    table.append(tableRow("td", [cell, does]));
  }
  return element(
    "div",
    {},
    element("p", { class: "ax-note" }, "While the tree has the focus:"),
    table,
  );
}
