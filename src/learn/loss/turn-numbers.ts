/** The turns to which Tree-GRPO gives a ratio; tokens of later ones have none and no gradient. */
export const countedTurns = 9;

/** How far a log ratio counts in the losses that bound it before they raise it. */
export const widestLogRatio = 20;

/** The turns of a row: a run of ones in its mask each, numbered from 1; 0 where there is none. */
export function turnsOf(mask: ArrayLike<number>): Int32Array {
  const turns = new Int32Array(mask.length);
  let turn = 0;
  for (let t = 0; t < mask.length; t++) {
    if (!mask[t]) continue;
    if (t === 0 || !mask[t - 1]) turn++;
    turns[t] = turn;
  }
  return turns;
}
