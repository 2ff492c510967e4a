import type { ModelToken, TreeTokens } from "./model-tokens.js";

/** A tree's tokens with a known signal, and which of them are the greatest. */
interface TopTokens {
  known: ModelToken[];
  top: ModelToken[];
  zScore: boolean;
}

/** The tokens with the greatest signal, at least one; of equal ones the first. */
export function topTokens(
  { tokens, trajectories }: TreeTokens,
  { share, zScore }: { share: number; zScore?: boolean },
): TopTokens {
  const scaled = zScore ?? new Set(trajectories.map((path) => path.length)).size > 1;
  const scales = scaled ? trajectories.map((path) => scaleOf(path.map((i) => tokens[i]!))) : [];
  const values = tokens.map(({ trajectory, value }) =>
    scaled ? scales[trajectory]!(value) : value,
  );
  const known = tokens.flatMap(({ value }, i) => (Number.isNaN(value) ? [] : [i]));
  const count = known.length === 0 ? 0 : Math.max(1, Math.round(share * known.length));
  const top = [...known].sort((a, b) => values[b]! - values[a]!).slice(0, count);
  return { known: known.map((i) => tokens[i]!), top: top.map((i) => tokens[i]!), zScore: scaled };
}

/** A trajectory's z-score, over the whole trajectory; 0 where it does not vary. */
function scaleOf(path: readonly ModelToken[]): (value: number) => number {
  const values = path.flatMap(({ value }) => (Number.isNaN(value) ? [] : [value]));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const deviation = Math.sqrt(variance);
  return (value) => (deviation > 1e-12 ? (value - mean) / deviation : 0 * value);
}
