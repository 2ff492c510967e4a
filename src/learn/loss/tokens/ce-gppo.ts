import { clipBounds } from "../clip-bounds.js";
import { lossParameters } from "../loss-parameters.js";
import type { ClipRegion, TokenRule } from "./rule.js";

/** CE-GPPO: beyond the bounds a share of the bound's gradient stays; beyond the dual clip none does. */
export const ceGppo: TokenRule = {
  token({ ratio, advantage }, _, options) {
    const { low, high, c } = clipBounds(options);
    const { gppoLow, gppoHigh } = lossParameters(options);
    const place: [ClipRegion, number] =
      ratio < low && advantage < 0
        ? ["below", gppoLow * low]
        : ratio > high && advantage > 0
          ? ["above", gppoHigh * high]
          : ["inside", ratio];
    const [region, bounded] = place;
    const outcome = { ratio, used: advantage, terms: { bounded, gppoLow, gppoHigh } };
    return advantage < 0 && bounded > c
      ? { ...outcome, region: "dual", weight: 0, loss: -c * advantage }
      : { ...outcome, region, weight: bounded, loss: -bounded * advantage };
  },
};
