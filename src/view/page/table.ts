import { escapeHtml } from "../../../common/picture/escape.js";

/** A cell: a text, or HTML with whether it is a number, and whether it names its row. */
export type Cell = string | { html: string; isNumber?: boolean; isHead?: boolean };

/** What may be wider than the page, in a box that scrolls by itself. */
export const wide = (label: string, html: string): string =>
  `<div class="arpo-wide" tabindex="0" role="group" aria-label="${label}">${html}</div>`;

const number = /^([+−×-] ?)?\d[\d.,]*(e[+-]\d+)?( ± .+)?$|^–?$/;
const isNumber = (cell: Cell = "") =>
  typeof cell === "string" ? number.test(cell) : cell.isNumber;

/** A table as every view shows one: a column of numbers is aligned to the right, under its head. */
export function table(
  rows: readonly (readonly Cell[])[],
  heads?: readonly Cell[],
  /** Attributes of the table, what stands in it before its rows, and the row that stands out. */
  { attributes = "", before = "", marked = -1 } = {},
): string {
  const line = (cells: readonly Cell[], tag: string, row = -2) =>
    `<tr${row === marked ? ' class="arpo-marked"' : ""}>${cells
      .map((cell, i) => {
        const right = rows.every((one) => isNumber(one[i])) ? ' class="arpo-number"' : "";
        if (typeof cell === "string") return `<${tag}${right}>${escapeHtml(cell)}</${tag}>`;
        const own = cell.isHead ? "th" : tag;
        return `<${own}${right}>${cell.html}</${own}>`;
      })
      .join("")}</tr>`;
  const top = heads ? `<thead>${line(heads, "th")}</thead>` : "";
  return `<table${attributes}>${before}${top}<tbody>${rows.map((row, i) => line(row, "td", i)).join("")}</tbody></table>`;
}
