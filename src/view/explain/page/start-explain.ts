import type { LossFacts } from "../../../learn/losses/base/definition.js";
import { shownLoss } from "./shown-loss.js";
import { element, fromHtml } from "../../page/element.js";
import { markKey } from "../../page/mark-key.js";
import { colourRamp, rampKey } from "../../page/colour-ramp.js";
import { numberText } from "../../page/words.js";
import { header } from "../../page/header.js";
import { table } from "../../page/table.js";
import { starter } from "../../page/start-view.js";
import type { Palette } from "../../../../common/picture/palette.js";
import type { ExplainedAlgorithm, ExplainedLine, ExplainPayload } from "../payload.js";
import { ShownBatch } from "./read-batch.js";
import type { TokenTerms } from "./token-terms.js";

const note =
  "Push: how a small step of gradient descent would move ln p of the token, if it were alone. Entropies are standardised over this batch; an update does it over each forward pass.";

/** What becomes of the token under every algorithm. */
function comparisonOf(shown: ShownBatch): HTMLElement[] {
  const sharing = shown.batch.sharing(shown.token);
  const heads = ["algorithm", "advantage", "used", "ratio", "bounds", "clip", "weight", "push"];
  if (sharing.length > 1) heads.push(`push of all ${sharing.length} trajectories that share it`);
  const { algorithms } = shown.payload;
  const rows = algorithms.map((each) => cellsOf(shown, each, sharing));
  const grid = table(rows, heads, {
    ...{ before: "<caption>This token under every algorithm</caption>" },
    marked: algorithms.indexOf(shown.algorithm),
  });
  return [fromHtml(grid), element("p", { class: "arpo-muted" }, note)];
}

function cellsOf(shown: ShownBatch, by: ExplainedAlgorithm, sharing: readonly number[]): string[] {
  const { advantage, used, ratio, low, high, region, weight, hold, push } = shown.terms(
    shown.token,
    by,
  );
  const kept = weight === 0 && hold === 0 ? "dropped" : "kept";
  const cells = [
    by.label,
    ...[advantage, used, ratio].map((x) => numberText(x, 4)),
    Number.isNaN(low) ? "–" : [low, high].map((x) => numberText(x, 5)).join(" – "),
    region === "inside" ? region : `${region}: ${kept}`,
    numberText(weight, 4),
    numberText(0 - push, 4),
  ];
  if (sharing.length < 2) return cells;
  const together = sharing.reduce((sum, other) => sum - shown.terms(other, by).push, 0);
  return [...cells, numberText(together, 4)];
}

/** A formula with the token's values under its symbols, beside the code that computes it. */
function formulaLine(shown: ShownBatch, line: ExplainedLine): HTMLElement {
  const { batch, token, row } = shown;
  const terms = shown.terms(token);
  const formula = element("div", {
    class: "arpo-formula",
    ...{ tabindex: "0", role: "group", "aria-label": "formula" },
  });
  // The formulas are the library's own, nothing of what a model wrote.
  formula.innerHTML = line.mathml;
  const part = terms.share * (terms.loss + (terms.beta === 0 ? 0 : terms.beta * terms.kl));
  const sharing = batch.sharing(token).length;
  const values = { ...row, ...terms, sharing, part } as unknown as Record<string, number>;
  for (const place of formula.querySelectorAll("[data-value]")) {
    place.textContent = numberText(values[place.getAttribute("data-value")!], 4);
  }
  const code = line.code.map(({ file, code: text, line: number }) =>
    element(
      "div",
      { class: "arpo-code" },
      element("span", { class: "arpo-muted" }, `${file}:${number}`),
      element("code", {}, text),
    ),
  );
  return element(
    "div",
    { class: "arpo-line" },
    element("h4", {}, line.title),
    element("div", { class: "arpo-pair" }, formula, element("div", {}, ...code)),
  );
}

/** What the colours and marks of the tokens mean. */
function legendOf(ramps: Palette): HTMLElement {
  const ramp = rampKey(colourRamp(ramps.diverging, 0, 1));
  return element(
    "div",
    { class: "arpo-legend" },
    element("span", {}, "less likely ", ramp, " more likely"),
    markKey("less", "less likely"),
    markKey("lost", "the loss dropped its gradient"),
    markKey("kept", "beyond the bounds or chosen by the loss, gradient kept"),
  );
}

/** The text of the trajectory that is looked at, each token on the colour of how it is pushed. */
function rowText(shown: ShownBatch, ramps: Palette): HTMLElement[] {
  const { batch, row, trained } = shown;
  const reach = trained
    .map((token) => Math.abs(shown.terms(token).slope))
    .reduce((most, value) => Math.max(most, value), 1e-9);
  const colour = colourRamp(ramps.diverging, -reach, reach);
  return Array.from({ length: row.length }, (_, i) => {
    const token = row.start + i;
    const span = element("span", { "data-token": String(token) }, shown.text(token));
    if (batch.mask[token] === 1) {
      const { slope, region } = shown.terms(token);
      span.style.background = colour(-slope);
      if (region !== "inside") span.className = slope === 0 ? "arpo-lost" : "arpo-kept";
      if (slope > 0) span.classList.add("arpo-less");
    } else span.className = "arpo-untrained";
    if (token === shown.token) span.classList.add("arpo-on");
    return span;
  });
}

const say = (x: number) => numberText(x, 5);

/** What is compared with the bounds, in words. */
function measured({ clips, ratioOf }: LossFacts, terms: TokenTerms): [what: string, value: number] {
  if (clips === "divergence") {
    const { divergence = NaN } = terms as TokenTerms & { divergence?: number };
    return ["the divergence of its probability,", divergence];
  }
  if (clips === "log ratio") return ["the log ratio", terms.logRatio];
  return [ratioOf ? `the ratio of its ${ratioOf}` : "the ratio", terms.ratio];
}

/** Beyond a bound: what is left of the gradient there. */
function beyond(loss: LossFacts, terms: TokenTerms): string {
  const { region, low, high, weight } = terms;
  const [what, value] = measured(loss, terms);
  const far = `${what} ${say(value)} is ${region} ${say(region === "above" ? high : low)} already`;
  if (weight === 0) {
    return loss.clips === "divergence"
      ? `${what} ${say(value)} is larger than the bounds allow: the loss drops its gradient.`
      : `${far}: the clip drops its gradient.`;
  }
  return loss.name === "vanilla"
    ? `${far}. PPO's clip would drop its gradient; entropy-balanced clipping keeps it, with weight ${say(weight)}.`
    : `${far}. PPO's clip would drop its gradient; this loss keeps it, with weight ${say(weight)}.`;
}

function within(loss: LossFacts, terms: TokenTerms): string {
  const { weight, hold, used, low, high } = terms;
  const { clips } = loss;
  const [what, value] = measured(loss, terms);
  const pulled = hold === 0 ? "" : `, and is pulled back with ${say(Math.abs(hold))}`;
  if (clips === undefined) return `it keeps its gradient, with weight ${say(weight)}${pulled}.`;
  const bound =
    clips === "divergence"
      ? "is allowed"
      : `is ${used > 0 ? "not above" : "not below"} ${say(used > 0 ? high : low)}`;
  return `${what} ${say(value)} ${bound}: it keeps its gradient, with weight ${say(weight)}${pulled}.`;
}

/** What an objective does to a token, in words. */
export function tokenWords(terms: TokenTerms, loss: LossFacts): string {
  const { ratio, c, used, region, weight, hold } = terms;
  if (used === 0 && hold === 0) {
    return "The advantage is 0: nothing is learned from this token.";
  }
  const goal =
    used > 0 ? "The token is to become more likely" : "The token is to become less likely";
  const place = {
    inside: () => within(loss, terms),
    above: () => beyond(loss, terms),
    below: () => beyond(loss, terms),
    dual: () => `the ratio ${say(ratio)} is above ${say(c)}: the dual clip drops its gradient.`,
    chosen: () =>
      weight === 0
        ? "its advantage and its probability go together: it was drawn among those that lose their gradient."
        : `its advantage and its probability go together the most: besides weight ${say(weight)} it is pulled back with ${say(Math.abs(hold))}.`,
    dropped: () => "its trajectory or its turn takes no part: the loss drops its gradient.",
  }[region]();
  return `${goal} (advantage ${say(used)}), and ${place}`;
}

/** Brings one explainer of the page to life. */
export const startExplain = starter<ExplainPayload>("batch", (root, payload, ramps) => {
  const shown = new ShownBatch(payload);
  const { batch } = shown;
  const { algorithms, rows } = payload;
  const tabs = element("div", { role: "tablist", "aria-label": "algorithm" });
  const summary = element("p", { class: "arpo-muted" });
  const text = element("div", { class: "arpo-text", tabindex: "0", role: "group" });
  text.setAttribute("aria-label", "tokens of the trajectory: arrow keys move over them");
  const words = element("p", { class: "arpo-verdict", "aria-live": "polite" });
  const formulas = element("div", { class: "arpo-formulas" });
  const comparison = element("div", { class: "arpo-wide", tabindex: "0" });
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
    words.replaceChildren(said, ` ${tokenWords(terms, shownLoss(shown.algorithm).facts)}`);
    const sign = terms.used < 0 ? "negative" : "positive";
    const lines = shown.algorithm.lines.filter(({ when }) => when === undefined || when === sign);
    formulas.replaceChildren(...lines.map((line) => formulaLine(shown, line)));
    comparison.replaceChildren(...comparisonOf(shown));
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

  const before = payload.updated ? "" : "before the update: every ratio is 1";
  root.querySelector("[data-picture]")?.remove();
  root.append(
    fromHtml(header("What the objective does to one token", before)),
    ...[tabs, summary],
    element("div", { class: "arpo-bar" }, element("label", {}, "trajectory ", picker)),
    ...[text, legendOf(ramps), words, formulas, comparison],
  );
  drawAll();
});
