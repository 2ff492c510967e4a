import { rampKey } from "../../page/colour-ramp.js";
import { element } from "../../page/element.js";
import { markKey } from "../../page/mark-key.js";
import { numberText } from "../../page/words.js";
import { factsOf, type TokenQuantity } from "../quantities.js";
import type { Colouring } from "./colouring.js";

/** What the colours of a quantity mean. */
export function legendOf(
  quantity: TokenQuantity,
  { low, high, colour, isLess }: Colouring,
): (string | HTMLElement)[] {
  const { meaning, less, ends } = factsOf(quantity);
  const [left, right] = ends ?? [`${numberText(low, 3)} `, ` ${numberText(high, 3)}`];
  const ramp = rampKey((place) => colour(low + place * (high - low)));
  const words = `${right}: ${meaning}`;
  if (!isLess(low)) return [left, ramp, words];
  return [left, ramp, `${words} · `, markKey("less", less)];
}

/** What the marks of tokens mean; where nothing was clipped, only which were trained. */
export function marksOf(clipped: boolean): HTMLElement {
  const words = [
    markKey("lost", "clipping dropped its gradient"),
    " · ",
    markKey("kept", "outside the bounds, gradient kept"),
    " · ",
  ];
  const told = clipped ? words : [];
  return element("span", { class: "arpo-key-words" }, ...told, "grey: not trained");
}
