import { colourRamp } from "../../page/colour-ramp.js";
import type { Palette } from "../../../../common/picture/palette.js";
import { factsOf, type TokenQuantity } from "../quantities.js";
import type { UnpackedPanel } from "./read-tokens.js";

/** How a quantity is coloured, alike in all panels. */
export interface Colouring {
  low: number;
  high: number;
  colour: (value: number) => string;
  /** Whether a value lies below the middle of a scale with two sides. */
  isLess: (value: number) => boolean;
}

/** The colouring of a quantity: around 1 for ratios, around 0 for what has two signs. */
export function colouringOf(
  panels: readonly UnpackedPanel[],
  quantity: TokenQuantity,
  ramps: Palette,
): Colouring {
  const { middle = 0, most = Infinity, least = 0 } = factsOf(quantity);
  let reach = 1e-9;
  let below = middle !== 0;
  for (const panel of panels) {
    for (const value of panel.values.get(quantity) ?? []) {
      if (Number.isNaN(value)) continue;
      reach = Math.max(reach, Math.abs(value - middle));
      below ||= value < middle;
    }
  }
  reach = Math.min(reach, most);
  const low = below ? middle - reach : middle;
  const high = middle + reach;
  const colour = colourRamp(below ? ramps.diverging : ramps.sequential, low, high);
  const alike = Math.max(least * reach, 1e-9);
  return { low, high, colour, isLess: (value) => below && middle - value > alike };
}
