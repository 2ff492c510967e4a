import { element } from "../../page/element.js";
import { numberText } from "../../page/number-text.js";
import type { ExplainedLine } from "../payload.js";
import type { ShownBatch } from "./shown-batch.js";

/** A formula with the token's values under its symbols, beside the code that computes it. */
export function formulaLine(shown: ShownBatch, line: ExplainedLine): HTMLElement {
  const { batch, token, row } = shown;
  const terms = shown.terms(token);
  const formula = element("div", { class: "arpo-formula" });
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
