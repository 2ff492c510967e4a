import { lossNameOf } from "../../../learn/loss/registry.js";
import { carried } from "../../page/carried.js";
import { element } from "../../page/element.js";
import { coloursOf, type PageColours } from "../../page/page-colours.js";
import type { ExplainPayload } from "../payload.js";
import { comparisonOf } from "./comparison.js";
import { formulaLine } from "./formula-line.js";
import { legendOf } from "./legend.js";
import { rowText } from "./row-text.js";
import { ShownBatch } from "./shown-batch.js";
import { tokenWords } from "./words.js";

/** Brings one explainer of the page to life. */
export function startExplain(id: string, colours: PageColours): void {
  const root = document.getElementById(id);
  const payload = carried<ExplainPayload>(root, "batch");
  if (!root || payload === undefined) return;
  const shown = new ShownBatch(payload);
  const { batch } = shown;
  const { algorithms, rows } = payload;
  const ramps = coloursOf(root, colours);
  const tabs = element("div", { role: "tablist", "aria-label": "algorithm" });
  const summary = element("p", { class: "arpo-muted" });
  const text = element("div", { class: "arpo-text", tabindex: "0", role: "group" });
  text.setAttribute("aria-label", "tokens of the row: arrow keys move over them");
  const words = element("p", { class: "arpo-verdict", "aria-live": "polite" });
  const formulas = element("div", { class: "arpo-formulas" });
  const table = element("div", { class: "arpo-wide", tabindex: "0" });
  const picker = element("select", {});
  rows.forEach(({ label }, i) => picker.append(element("option", { value: String(i) }, label)));

  function drawTabs(): void {
    tabs.replaceChildren(
      ...algorithms.map((each) => {
        const chosen = String(each === shown.algorithm);
        const tab = element("button", { role: "tab", "aria-selected": chosen }, each.label);
        tab.dataset["algorithm"] = each.name;
        tab.onclick = () => {
          shown.algorithm = each;
          drawAll();
        };
        return tab;
      }),
    );
    summary.textContent = shown.algorithm.summary;
  }
  function drawToken(): void {
    const terms = shown.terms(shown.token);
    const said = element("b", { class: "arpo-chosen" }, JSON.stringify(shown.text(shown.token)));
    words.replaceChildren(said, ` ${tokenWords(terms, lossNameOf(shown.algorithm.settings))}`);
    const sign = terms.used < 0 ? "negative" : "positive";
    const lines = shown.algorithm.lines.filter(({ when }) => when === undefined || when === sign);
    formulas.replaceChildren(...lines.map((line) => formulaLine(shown, line)));
    table.replaceChildren(...comparisonOf(shown));
  }
  function drawAll(): void {
    drawTabs();
    picker.value = String(rows.indexOf(shown.row));
    text.replaceChildren(...rowText(shown, ramps));
    drawToken();
  }
  function look(next: number): void {
    if (batch.mask[next] !== 1) return;
    shown.token = next;
    for (const span of text.querySelectorAll(".arpo-on")) span.classList.remove("arpo-on");
    text.querySelector(`[data-token="${next}"]`)?.classList.add("arpo-on");
    drawToken();
  }
  text.onclick = (event) => {
    const chosen = (event.target as HTMLElement).dataset["token"];
    if (chosen !== undefined) look(Number(chosen));
  };
  text.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const { start, length } = shown.row;
    const inRow = (token: number) => token >= start && token < start + length;
    let next = shown.token + step;
    while (inRow(next) && batch.mask[next] !== 1) next += step;
    if (inRow(next)) look(next);
  };
  picker.onchange = () => {
    const { start, length } = rows[Number(picker.value)]!;
    const first = shown.trained.find((token) => token >= start && token < start + length);
    if (first === undefined) return;
    shown.token = first;
    drawAll();
  };

  const title = element("b", {}, "What the objective does to one token");
  const before = element("span", { class: "arpo-muted" }, "before the update: every ratio is 1");
  root.querySelector("[data-picture]")?.remove();
  root.append(
    element("div", { class: "arpo-title" }, title, payload.updated ? undefined : before),
    ...[tabs, summary],
    element("div", { class: "arpo-bar" }, element("label", {}, "row ", picker)),
    ...[text, legendOf(ramps), words, formulas, table],
  );
  drawAll();
}
