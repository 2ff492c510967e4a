import { colourRamp } from "../../page/colour-ramp.js";
import { element } from "../../page/element.js";
import type { Palette } from "../../palette.js";

/** What the colours and marks of the tokens mean. */
export function legendOf(ramps: Palette): HTMLElement {
  const ends = [-1, 0, 1].map((x) => colourRamp(ramps.diverging, -1, 1)(x)).join(",");
  const style = `background:linear-gradient(90deg,${ends})`;
  const ramp = element("i", { class: "arpo-ramp", style });
  const mark = (name: string, word: string, meaning: string) =>
    element("span", {}, element("span", { class: name }, word), `: ${meaning}`);
  return element(
    "div",
    { class: "arpo-legend" },
    element("span", {}, "less likely ", ramp, " more likely"),
    mark("arpo-lost", "struck out", "the loss dropped its gradient"),
    mark("arpo-kept", "underlined", "beyond the bounds or chosen by the loss, gradient kept"),
  );
}
