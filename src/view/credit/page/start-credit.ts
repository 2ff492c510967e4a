import { element, fromHtml } from "../../page/element.js";
import { markKey } from "../../page/mark-key.js";
import { colourRamp, rampKey } from "../../page/colour-ramp.js";
import { isLess, numberText } from "../../page/words.js";
import { table } from "../../page/table.js";
import { starter } from "../../page/start-view.js";
import { integersOf } from "../../page/unpack.js";
import type { CreditPayload, ShownSum, SumPart } from "../payload.js";

/** A credit view as its page works with it. */
interface PageCredit {
  payload: CreditPayload;
  /** What a trajectory's token says. */
  text: (row: number, token: number) => string;
  isTrained: (row: number, token: number) => boolean;
  /** The sum that a rule has for a trajectory's token; undefined where it gives nothing. */
  sumAt: (rule: number, row: number, token: number) => ShownSum | undefined;
  /** The advantage of a trajectory's token; NaN where the policy is not trained. */
  valueAt: (rule: number, row: number, token: number) => number;
}

export function readCredit(payload: CreditPayload): PageCredit {
  const tokens = integersOf(payload.tokens, payload.wide);
  const trained = integersOf(payload.trained, false);
  const place = (row: number, token: number) => payload.rows[row]!.start + token;
  const sumAt = (rule: number, row: number, token: number) => {
    const spans = payload.rules[rule]!.spans[row] ?? [];
    const span = spans.find(([start, end]) => start <= token && token < end);
    return span && payload.sums[span[2]];
  };
  const isTrained = (row: number, token: number) => trained[place(row, token)] === 1;
  return {
    payload,
    text: (row, token) => {
      const id = tokens[place(row, token)]!;
      return payload.vocabulary[id] ?? `#${id} `;
    },
    isTrained,
    sumAt,
    valueAt: (rule, row, token) =>
      isTrained(row, token) ? (sumAt(rule, row, token)?.value ?? 0) : NaN,
  };
}

const signed = (value: number) => (value < 0 ? "" : "+") + numberText(value, 4);

/** The sum behind an advantage, a line for each number in it. */
function sumTable(name: string, { terms, factors, value }: ShownSum): HTMLElement {
  const line =
    (sign: (v: number) => string) =>
    ([label, number, from]: SumPart) => [label, sign(number), from ? `= ${from}` : ""];
  const sum = terms.reduce((all, [, number]) => all + number, 0);
  const rows = [
    ...terms.map(line(signed)),
    ...(factors.length > 0 && terms.length > 1 ? [["together", signed(sum), ""]] : []),
    ...factors.map(line((v) => `× ${numberText(v, 4)}`)),
    [`advantage by ${name}`, signed(value), ""],
  ];
  return fromHtml(table(rows, undefined, { marked: rows.length - 1 }));
}

/** Tokens of a trajectory that are laid out at once. */
const most = 400;

/** Where a reader looks: a rule, a trajectory, a token of it. */
interface Place {
  rule: number;
  row: number;
  token: number;
}

/** Newlines and what cannot be seen as signs, so that every token has its column. */
function visible(text: string): string {
  return [...text].map((c) => (c === "\n" ? "⏎" : c < " " ? "·" : c)).join("") || "·";
}

/** A trajectory's tokens once for every rule, one below the other, so that a column is a token. */
function tokenLines(
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
      element("th", { scope: "row" }, element("span", {}, name, element("output", {}))),
    );
    for (let token = from; token < end; token++) {
      const cell = element("td", { "data-token": String(token) }, visible(text(row, token)));
      if (isTrained(row, token)) {
        const value = valueAt(rule, row, token);
        cell.style.background = colour(rule, value);
        if (isLess(value)) cell.className = "arpo-less";
      } else cell.className = "arpo-untrained";
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

/** Tokens before the one that is looked at, where a long trajectory is laid out in parts. */
const before = 150;

/** Brings one credit view of the page to life. */
export const startCredit = starter<CreditPayload>("credit", (root, payload, { diverging }) => {
  const credit = readCredit(payload);
  const { rules, rows, reach } = payload;
  const usable = rules.flatMap(({ missing }, rule) => (missing === undefined ? [rule] : []));
  const svg = root.querySelector("svg");

  let own = false; // Each rule on a scale of its own.
  let place: Place = { rule: usable[0] ?? 0, row: 0, token: 0 };
  let from = 0;
  const reaches = rules.map(({ spans }) =>
    spans
      .flat()
      .reduce((max, [, , sum]) => Math.max(max, Math.abs(payload.sums[sum]!.value)), 1e-9),
  );
  const ramps = () =>
    rules.map((_, rule) => colourRamp(diverging, ...ends(own ? reaches[rule]! : reach)));
  const ends = (to: number): [number, number] => [-to, to];
  let ramp = ramps();
  const colour = (rule: number, value: number) => ramp[rule]!(value);

  const legend = element("span", { class: "arpo-legend" });
  const choice = element("select", {}, ...rows.map(({ label }, row) => option(label, row)));
  const scale = element("select", {}, option("one for all rules", 0), option("each rule's own", 1));
  const lines = element("div", {});
  const sum = element("div", { class: "arpo-sum", "aria-live": "polite" });
  let mark: (place: Place) => void = () => undefined;

  function paintMap(): void {
    for (const heat of svg?.querySelectorAll<SVGRectElement>("rect[data-value]") ?? []) {
      const rule = heat.parentElement?.querySelector<SVGRectElement>(".arpo-map")?.dataset["rule"];
      heat.setAttribute("fill", colour(Number(rule), Number(heat.dataset["value"])));
    }
    const words = own
      ? ["discouraged ", " encouraged: each rule's own scale"]
      : [`−${numberText(reach, 3)} or less `, ` +${numberText(reach, 3)} or more: advantage`];
    const ramp = rampKey(colourRamp(diverging, 0, 1));
    legend.replaceChildren(words[0]!, ramp, words[1]!, markKey("less", "discouraged"));
  }

  function layOut(): void {
    const { length } = rows[place.row]!;
    from = length <= most ? 0 : Math.max(0, Math.min(length - most, place.token - before));
    const made = tokenLines(credit, place.row, from, colour, look);
    mark = made.mark;
    made.box.onkeydown = (event) => move(event);
    const rest = length > most ? `tokens ${from} to ${from + most - 1} of ${length}` : "";
    lines.replaceChildren(made.box, element("span", { class: "arpo-muted" }, rest));
  }

  function move(event: KeyboardEvent): void {
    const aside = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
    const down = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (aside === 0 && down === 0) return;
    event.preventDefault();
    const at = usable.indexOf(place.rule) + down;
    const rule = usable[Math.max(0, Math.min(usable.length - 1, at))]!;
    const last = rows[place.row]!.length - 1;
    look({ rule, row: place.row, token: Math.max(0, Math.min(last, place.token + aside)) });
  }

  function look(next: Place): void {
    const moved = next.row !== place.row || next.token < from || next.token >= from + most;
    place = next;
    if (moved) layOut();
    choice.value = String(place.row);
    mark(place);
    const { rule, row, token } = place;
    const name = rules[rule]!.name;
    const found = credit.sumAt(rule, row, token);
    const said = element(
      "p",
      {},
      element("b", {}, JSON.stringify(credit.text(row, token))),
      `, token ${token} of ${rows[row]!.label}. ${name}: ${rules[rule]!.meaning}.`,
    );
    const why = !credit.isTrained(row, token)
      ? element("p", {}, "Not trained: a tool wrote it, or the trajectory had ended.")
      : found
        ? sumTable(name, found)
        : element("p", {}, `${name} gives this token nothing.`);
    sum.replaceChildren(said, why);
  }

  choice.onchange = () => look({ ...place, row: Number(choice.value), token: 0 });
  scale.onchange = () => {
    own = scale.value === "1";
    ramp = ramps();
    paintMap();
    layOut();
    mark(place);
  };
  svg?.addEventListener("click", (event) => {
    const group = (event.target as Element).closest("g");
    const map = group?.querySelector<SVGRectElement>(".arpo-map");
    if (!map) return;
    const rule = Number(map.dataset["rule"]);
    const box = map.getBoundingClientRect();
    const share = (at: number, start: number, size: number) =>
      Math.max(0, Math.min(0.9999, (at - start) / size));
    const row = Math.floor(share(event.clientY, box.top, box.height) * rows.length);
    const longest = Number(svg.dataset["longest"]);
    const token = Math.floor(share(event.clientX, box.left, box.width) * longest);
    if (rules[rule]!.missing !== undefined) return;
    look({ rule, row, token: Math.min(rows[row]!.length - 1, token) });
  });

  const bar = element(
    "div",
    { class: "arpo-bar" },
    element("label", {}, "trajectory ", choice),
    element("label", {}, "scale ", scale),
    legend,
  );
  const missing = rules.flatMap(({ name, missing: why }) =>
    why === undefined ? [] : [element("p", { class: "arpo-muted" }, `${name}: ${why}`)],
  );
  root.append(bar, lines, sum, ...missing);
  paintMap();
  layOut();
  look(place);
});

function option(label: string, value: number): HTMLOptionElement {
  return element("option", { value: String(value) }, label);
}
