import { colourRamp } from "../../page/colour-ramp.js";
import { element } from "../../page/element.js";
import type { Palette } from "../../palette.js";
import type { ShownBatch } from "./shown-batch.js";

/** The text of the row that is looked at, each token on the colour of how it is pushed. */
export function rowText(shown: ShownBatch, ramps: Palette): HTMLElement[] {
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
    } else span.className = "arpo-untrained";
    if (token === shown.token) span.classList.add("arpo-on");
    return span;
  });
}
