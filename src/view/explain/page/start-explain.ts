import { colourRamp, type PageColours } from "../../explorer/page/colours.js";
import { element } from "../../explorer/page/element.js";
import type { ExplainPayload, FormulaLine } from "../payload.js";
import { readBatch } from "./read-batch.js";
import { type TokenTerms, tokenTerms } from "./token-terms.js";
import { tokenWords } from "./words.js";

/** Brings one explainer of the page to life. */
export function startExplain(id: string, colours: PageColours): void {
  const root = document.getElementById(id);
  const source = root?.querySelector("script[data-batch]")?.textContent;
  if (!root || source == null) return;
  const payload = JSON.parse(source) as ExplainPayload;
  const batch = readBatch(payload);
  const { algorithms, rows } = payload;
  let algorithm = algorithms.find(({ name }) => name === payload.first) ?? algorithms[0]!;
  const channels = (getComputedStyle(root).color.match(/[\d.]+/g) ?? []).map(Number);
  const isDark = 0.3 * channels[0]! + 0.59 * channels[1]! + 0.11 * channels[2]! > 140;
  root.dataset["theme"] = isDark ? "dark" : "light";
  const ramps = isDark ? colours.dark : colours.light;
  const show = (x: number | undefined) =>
    x === undefined || Number.isNaN(x) ? "–" : String(Number(x.toPrecision(4)));
  const textOf = (token: number) =>
    payload.vocabulary[batch.tokens[token]!] ?? `#${String(batch.tokens[token])} `;
  const termsOf = (token: number, by = algorithm) =>
    tokenTerms(batch.input(token, by), by.settings);
  const trained = Array.from(batch.mask.keys()).filter((token) => batch.mask[token] === 1);
  // The token whose fate depends most on the algorithm is the one worth looking at.
  const fates = trained.map((each) => {
    const told = algorithms
      .filter(({ settings }) => settings.ratio !== "gspo")
      .map((by) => termsOf(each, by))
      .map(({ region, weight }) => `${region} ${String(weight === 0)}`);
    return new Set(told).size;
  });
  let token = trained[fates.indexOf(fates.reduce((a, b) => Math.max(a, b), 1))]!;

  const tabs = element("div", { role: "tablist", "aria-label": "algorithm" });
  const summary = element("p", { class: "arpo-muted" });
  const text = element("div", { class: "arpo-text", tabindex: "0", role: "group" });
  text.setAttribute("aria-label", "tokens of the row: arrow keys move over them");
  const words = element("p", { class: "arpo-verdict", "aria-live": "polite" });
  const formulas = element("div", { class: "arpo-formulas" });
  const table = element("div", { class: "arpo-wide" });
  const picker = element("select", {});
  rows.forEach(({ label }, i) => picker.append(element("option", { value: String(i) }, label)));

  function drawTabs(): void {
    tabs.replaceChildren(
      ...algorithms.map((each) => {
        const chosen = String(each === algorithm);
        const tab = element("button", { role: "tab", "aria-selected": chosen }, each.label);
        tab.dataset["algorithm"] = each.name;
        tab.onclick = () => {
          algorithm = each;
          drawAll();
        };
        return tab;
      }),
    );
    summary.textContent = algorithm.summary;
  }
  function drawText(): void {
    const row = rows[batch.rowOf(token)]!;
    picker.value = String(rows.indexOf(row));
    const all = trained.map((t) => Math.abs(termsOf(t).slope));
    const reach = all.reduce((most, value) => Math.max(most, value), 1e-9);
    const colour = colourRamp(ramps.diverging, -reach, reach);
    text.replaceChildren();
    for (let t = row.start; t < row.start + row.length; t++) {
      const span = element("span", { "data-token": String(t) }, textOf(t));
      if (batch.mask[t] === 1) {
        const { slope, region, weight } = termsOf(t);
        span.style.background = colour(-slope);
        if (region !== "inside") span.className = weight === 0 ? "arpo-lost" : "arpo-kept";
      } else span.className = "arpo-untrained";
      if (t === token) span.classList.add("arpo-on");
      text.append(span);
    }
  }
  function drawFormula(line: FormulaLine, terms: TokenTerms): HTMLElement {
    const box = element("div", { class: "arpo-line" });
    const formula = element("div", { class: "arpo-formula" });
    formula.innerHTML = line.mathml;
    const row = rows[batch.rowOf(token)]!;
    const sharing = batch.sharing(token).length;
    const part = terms.share * (terms.loss + (terms.beta === 0 ? 0 : terms.beta * terms.kl));
    const values: Record<string, number> = { ...row, ...terms, sharing, part } as never;
    for (const place of formula.querySelectorAll("[data-value]")) {
      place.textContent = show(values[place.getAttribute("data-value")!]);
    }
    const code = line.code.map(({ file, code: lineOfCode, line: number }) => {
      const where = `${file}${number === undefined ? "" : `:${number}`}`;
      return element(
        "div",
        { class: "arpo-code" },
        element("span", { class: "arpo-muted" }, where),
        element("code", {}, lineOfCode),
      );
    });
    box.append(
      element("h4", {}, line.title),
      element("div", { class: "arpo-pair" }, formula, element("div", {}, ...code)),
    );
    return box;
  }
  function drawToken(): void {
    const terms = termsOf(token);
    words.replaceChildren(
      element("b", { class: "arpo-chosen" }, JSON.stringify(textOf(token))),
      ` ${tokenWords(terms)}`,
    );
    const sign = terms.used < 0 ? "negative" : "positive";
    const lines = algorithm.lines.filter(({ when }) => when === undefined || when === sign);
    formulas.replaceChildren(...lines.map((line) => drawFormula(line, terms)));
    const sharing = batch.sharing(token);
    const heads = ["", "advantage", "used", "ratio", "bounds", "clip", "weight", "push"];
    if (sharing.length > 1) heads.push(`push of all ${sharing.length} rows that share it`);
    const grid = element("table", {}, element("caption", {}, "This token under every algorithm"));
    grid.append(element("tr", {}, ...heads.map((head) => element("th", {}, head))));
    for (const each of algorithms) {
      const t = termsOf(token, each);
      const together = sharing.reduce((sum, other) => sum - termsOf(other, each).push, 0);
      const fate =
        t.region === "inside"
          ? "inside"
          : t.weight === 0
            ? `${t.region}: dropped`
            : `${t.region}: kept`;
      const cells = [
        each.label,
        ...[t.advantage, t.used, t.ratio].map(show),
        [t.low, t.high].map((x) => String(Number(x.toPrecision(5)))).join(" – "),
        fate,
        show(t.weight),
        show(0 - t.push),
      ];
      if (sharing.length > 1) cells.push(show(together));
      const line = element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
      if (each === algorithm) line.className = "arpo-active";
      grid.append(line);
    }
    table.replaceChildren(
      grid,
      element(
        "p",
        { class: "arpo-muted" },
        "Push: how a small step of gradient descent would move ln p of the token, if it were alone. Entropies are standardised over this batch; an update does it over each forward pass.",
      ),
    );
  }
  function drawAll(): void {
    drawTabs();
    drawText();
    drawToken();
  }
  function look(next: number): void {
    if (batch.mask[next] !== 1) return;
    token = next;
    for (const span of text.querySelectorAll(".arpo-on")) span.classList.remove("arpo-on");
    text.querySelector(`[data-token="${token}"]`)?.classList.add("arpo-on");
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
    const row = rows[batch.rowOf(token)]!;
    let next = token + step;
    while (next >= row.start && next < row.start + row.length && batch.mask[next] !== 1)
      next += step;
    if (next >= row.start && next < row.start + row.length) look(next);
  };
  picker.onchange = () => {
    const row = rows[Number(picker.value)]!;
    const first = trained.find((t) => t >= row.start && t < row.start + row.length);
    if (first === undefined) return;
    token = first;
    drawAll();
  };
  root.querySelector("[data-picture]")?.remove();
  const ends = [-1, 0, 1].map((x) => colourRamp(ramps.diverging, -1, 1)(x)).join(",");
  const ramp = element("i", {
    class: "arpo-ramp",
    style: `background:linear-gradient(90deg,${ends})`,
  });
  root.append(
    element(
      "div",
      { class: "arpo-title" },
      element("b", {}, "What the objective does to one token"),
      payload.updated
        ? undefined
        : element("span", { class: "arpo-muted" }, "before the update: every ratio is 1"),
    ),
    tabs,
    summary,
    element("div", { class: "arpo-bar" }, element("label", {}, "row ", picker)),
    text,
    element(
      "div",
      { class: "arpo-legend" },
      element("span", {}, "less likely ", ramp, " likelier"),
      element(
        "span",
        {},
        element("span", { class: "arpo-lost" }, "struck out"),
        ": the clip dropped its gradient",
      ),
      element(
        "span",
        {},
        element("span", { class: "arpo-kept" }, "underlined"),
        ": outside the bounds, gradient kept",
      ),
    ),
    words,
    formulas,
    table,
  );
  drawAll();
}
