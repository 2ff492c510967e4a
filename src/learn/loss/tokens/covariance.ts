import { type LossRow, trainedOf } from "./rule.js";

/** How a token's advantage and log-probability vary together, over all trained tokens. */
export function covarianceOf(rows: readonly LossRow[]): (row: number, token: number) => number {
  const mean = (pick: (row: LossRow) => ArrayLike<number>) => {
    const all = trainedOf(rows, pick);
    return all.reduce((sum, x) => sum + x, 0) / Math.max(1, all.length);
  };
  const [advantage, logprob] = [mean((row) => row.advantages), mean((row) => row.logprobs)];
  return (r, t) => (rows[r]!.advantages[t]! - advantage) * (rows[r]!.logprobs[t]! - logprob);
}

/** The places of all trained tokens, row by row. */
export function placesOf(rows: readonly LossRow[]): [row: number, token: number][] {
  return rows.flatMap(({ mask }, r) =>
    Array.from(mask).flatMap((m, t): [number, number][] => (m ? [[r, t]] : [])),
  );
}

/** Whether a place was chosen: as the update itself noted, else among the first of these. */
export function chosenAt(
  rows: readonly LossRow[],
  first: () => readonly (readonly [row: number, token: number])[],
): (row: number, token: number) => number {
  if (rows.every((row) => row.chosen !== undefined)) return (r, t) => rows[r]!.chosen![t]!;
  const found = new Set(first().map(([r, t]) => `${r} ${t}`));
  return (r, t) => Number(found.has(`${r} ${t}`));
}
