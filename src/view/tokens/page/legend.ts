import { rampKey } from "../../page/colour-ramp.js";
import { element } from "../../page/element.js";
import { numberText } from "../../page/words.js";
import type { TokenQuantity } from "../payload.js";
import type { Colouring } from "./colouring.js";

const meanings: Record<TokenQuantity, string> = {
  push: "advantage times what clipping leaves of it",
  weight: "the factor that clipping leaves on the gradient",
  ratio: "the probability now over that when it was sampled",
  gap: "ln p of the teacher less that of the policy (nats)",
  turn: "the gap summed over the turn (nats)",
  advantage: "how much better than expected the trajectory did",
  entropy: "how open the choice was (nats)",
};

/** The mark of a token on the lower side of a scale, which colour alone would tell. */
export const lessMark = (): HTMLElement => element("span", { class: "arpo-less" }, "dotted above");

/** What that mark means for a quantity. */
export const lessWords = (quantity: TokenQuantity): string =>
  quantity === "ratio"
    ? "below 1"
    : ["entropy", "gap", "turn"].includes(quantity)
      ? "below 0"
      : "less likely";

/** What the colours of a quantity mean. */
export function legendOf(
  quantity: TokenQuantity,
  { low, high, colour, isLess }: Colouring,
): (string | HTMLElement)[] {
  const [left, right] =
    quantity === "push" || quantity === "advantage"
      ? ["less likely ", " more likely"]
      : [`${numberText(low, 3)} `, ` ${numberText(high, 3)}`];
  const ramp = rampKey((place) => colour(low + place * (high - low)));
  const words = `${right}: ${meanings[quantity]}`;
  if (!isLess(low)) return [left, ramp, words];
  return [left, ramp, `${words} · `, lessMark(), `: ${lessWords(quantity)}`];
}

/** What the marks of tokens mean; where nothing was clipped, only which were trained. */
export function marksOf(clipped: boolean): HTMLElement {
  const words = [
    element("span", { class: "arpo-lost" }, "struck out"),
    ": clipping dropped its gradient · ",
    element("span", { class: "arpo-kept" }, "underlined"),
    ": outside the bounds, gradient kept · ",
  ];
  const told = clipped ? words : [];
  return element("span", { class: "arpo-key-words" }, ...told, "grey: not trained");
}
