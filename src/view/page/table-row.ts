import { element } from "./element.js";

/** A row of a table, each cell a text or an element. */
export function tableRow(
  cell: "th" | "td",
  texts: readonly (string | Node)[],
): HTMLTableRowElement {
  return element("tr", {}, ...texts.map((text) => element(cell, {}, text)));
}
