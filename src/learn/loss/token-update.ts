import { type ClipOptions, clipBounds } from "./clip-bounds.js";
import type { RatioKind } from "./token-ratio.js";

/** Where a token's ratio stood when it was trained on. */
export type ClipRegion = "inside" | "above" | "below" | "dual";

/** What the update did to one token. */
export interface TokenUpdate {
  ratio: number;
  region: ClipRegion;
  /** Factor of grad ln p in the loss: 0 where clipping dropped the token. */
  weight: number;
}

/** What decides how a token is clipped. */
export interface TokenUpdateOptions extends ClipOptions {
  ratio?: RatioKind;
  entropyBalancedClipping?: boolean;
}

/**
 * What an update with some options does to a token of a ratio and an advantage, by the table of gradient
 * factors. A ratio of a whole row (`gspo`) is clipped on both sides alone.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tokenUpdate } from "arpo-lab/learn";
 *
 * assert.deepEqual(tokenUpdate(1.5, 1, {}), { ratio: 1.5, region: "above", weight: 0 });
 * assert.equal(tokenUpdate(1.5, 1, { entropyBalancedClipping: true }).weight, 1.2);
 * ```
 */
export function tokenUpdate(
  ratio: number,
  advantage: number,
  options: TokenUpdateOptions,
): TokenUpdate {
  const { low, high, c } = clipBounds(options);
  const ofRow = options.ratio === "gspo";
  if (advantage > 0 && ratio > high) {
    const kept = options.entropyBalancedClipping && !ofRow;
    return { ratio, region: "above", weight: kept ? high : 0 };
  }
  if (advantage < 0 && ratio < low) return { ratio, region: "below", weight: 0 };
  if (advantage < 0 && ratio > c && !ofRow) return { ratio, region: "dual", weight: 0 };
  return { ratio, region: "inside", weight: ratio };
}
