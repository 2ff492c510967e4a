import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import type { PageCredit } from "./read-credit.js";

/** Tokens of a row that are laid out at once. */
const most = 400;

/** Where a reader looks: a rule, a row, a token of it. */
export interface Place {
  rule: number;
  row: number;
  token: number;
}

/** Newlines and what cannot be seen as signs, so that every token has its column. */
function visible(text: string): string {
  return [...text].map((c) => (c === "\n" ? "⏎" : c < " " ? "·" : c)).join("") || "·";
}

/** A row's tokens once for every rule, one below the other, so that a column is a token. */
export function tokenLines(
  credit: PageCredit,
  row: number,
  from: number,
  colour: (rule: number, value: number) => string,
  look: (place: Place) => void,
): { box: HTMLElement; mark: (place: Place) => void } {
  const { payload, text, isTrained, valueAt } = credit;
  const { length } = payload.rows[row]!;
  const end = Math.min(length, from + most);
  const table = element("table", {});
  payload.rules.forEach(({ name, missing }, rule) => {
    if (missing !== undefined) return;
    const line = element(
      "tr",
      { "data-line": String(rule) },
      element("th", { scope: "row" }, name, element("output", {})),
    );
    for (let token = from; token < end; token++) {
      const cell = element("td", { "data-token": String(token) }, visible(text(row, token)));
      if (isTrained(row, token)) cell.style.background = colour(rule, valueAt(rule, row, token));
      else cell.className = "arpo-untrained";
      line.append(cell);
    }
    table.append(line);
  });
  const box = element("div", { class: "arpo-lines", tabindex: "0", role: "group" }, table);
  box.setAttribute("aria-label", "arrow keys move over tokens and rules");
  box.onclick = (event) => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>("td[data-token]");
    const line = cell?.closest<HTMLElement>("tr");
    if (cell && line) {
      look({ rule: Number(line.dataset["line"]), row, token: Number(cell.dataset["token"]) });
    }
  };
  const mark = ({ rule, token }: Place) => {
    for (const on of box.querySelectorAll(".arpo-on,.arpo-at,.arpo-chosen")) {
      on.classList.remove("arpo-on", "arpo-at", "arpo-chosen");
    }
    const line = box.querySelector(`tr[data-line="${rule}"]`);
    line?.classList.add("arpo-chosen");
    for (const each of box.querySelectorAll<HTMLElement>("tr[data-line]")) {
      const value = valueAt(Number(each.dataset["line"]), row, token);
      each.querySelector("output")!.textContent = numberText(value, 3);
      each.querySelector(`td[data-token="${token}"]`)?.classList.add("arpo-at");
    }
    const cell = line?.querySelector<HTMLElement>(`td[data-token="${token}"]`);
    cell?.classList.add("arpo-on");
    if (!cell) return;
    // Only sideways: the page itself must not jump.
    const [left, right] = [box.scrollLeft, box.scrollLeft + box.clientWidth];
    if (cell.offsetLeft < left + 140 || cell.offsetLeft + cell.offsetWidth > right) {
      box.scrollLeft = Math.max(0, cell.offsetLeft - box.clientWidth / 2);
    }
  };
  return { box, mark };
}
