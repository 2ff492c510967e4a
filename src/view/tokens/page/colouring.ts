import { colourRamp } from "../../page/colour-ramp.js";
import type { Palette } from "../../../../common/picture/palette.js";
import type { TokenQuantity } from "../payload.js";
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
  const middle = quantity === "ratio" ? 1 : 0;
  let reach = 1e-9;
  let below = quantity === "ratio";
  for (const panel of panels) {
    for (const value of panel.values.get(quantity) ?? []) {
      if (Number.isNaN(value)) continue;
      reach = Math.max(reach, Math.abs(value - middle));
      below ||= value < middle;
    }
  }
  // One far ratio must not hide what the others did.
  if (quantity === "ratio") reach = Math.min(reach, 1);
  const low = below ? middle - reach : middle;
  const high = middle + reach;
  const colour = colourRamp(below ? ramps.diverging : ramps.sequential, low, high);
  // A teacher agrees with most tokens, but for a little.
  const least = quantity === "gap" || quantity === "turn" ? reach / 50 : 1e-9;
  return { low, high, colour, isLess: (value) => below && middle - value > least };
}
