import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import { tableRow } from "../../page/table-row.js";
import type { ShownSum, SumPart } from "../payload.js";

const signed = (value: number) => (value < 0 ? "" : "+") + numberText(value, 4);

/** The sum behind an advantage, a line for each number in it. */
export function sumTable(name: string, { terms, factors, value }: ShownSum): HTMLElement {
  const line =
    (sign: (v: number) => string) =>
    ([label, number, from]: SumPart) =>
      tableRow("td", [label, sign(number), from ? `= ${from}` : ""]);
  const body = element("tbody", {}, ...terms.map(line(signed)));
  if (factors.length > 0 && terms.length > 1) {
    const sum = terms.reduce((all, [, number]) => all + number, 0);
    body.append(tableRow("td", ["together", signed(sum), ""]));
  }
  body.append(...factors.map(line((v) => `× ${numberText(v, 4)}`)));
  const total = tableRow("td", [`advantage by ${name}`, signed(value), ""]);
  total.className = "arpo-total";
  body.append(total);
  return element("table", {}, body);
}
