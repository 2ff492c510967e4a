import type { SeenTrajectory } from "./measured-trajectory.js";

/** How likely forks from each token are to be mixed, from the group's own outcomes. */
export function groupMixed(t: SeenTrajectory): { shared: number; variance: number }[] {
  const { group } = t;
  const all = (group.reduce((sum, { value }) => sum + value, 0) + 0.2) / (group.length + 2);
  return t.texts.map((_, i) => {
    const here = group.filter(({ shared }) => shared >= i);
    const q = (here.reduce((sum, { value }) => sum + value, 0) + all) / (here.length + 1);
    return { shared: here.length, variance: q * (1 - q) };
  });
}

/** The mean of the values from each place on, over at most `width`. */
export const windowMeans = (values: readonly number[], width: number): number[] =>
  values.map((_, i) => {
    const window = values.slice(i, i + width);
    return window.reduce((sum, x) => sum + x, 0) / window.length;
  });
