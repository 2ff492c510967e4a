/** Points' first scores from the lowest to the highest, as the ends of a ramp. */
export function scoreRange(
  points: readonly { scores: readonly number[] }[],
): [low: number, high: number] {
  const firsts = points.map(({ scores: [first] }) => first!);
  const [low, high] = [Math.min(...firsts), Math.max(...firsts)];
  return high > low ? [low, high] : [low - 1, low];
}
