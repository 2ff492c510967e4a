/** A measurement, and where it was made. */
export interface Point {
  x: number;
  value: number;
}

/** The value at a place, on the line between the two measurements around it; undefined outside of them. */
export function interpolated(points: readonly Point[], at: number): number | undefined {
  const after = points.findIndex((point) => point.x >= at);
  const [right, left] = [points[after], points[after - 1]];
  if (right?.x === at) return right.value;
  if (!left || !right) return undefined;
  return left.value + ((right.value - left.value) * (at - left.x)) / (right.x - left.x);
}
