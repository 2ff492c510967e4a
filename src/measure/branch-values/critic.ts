import {
  groupMixed,
  type MeasuredTrajectory,
  type SeenTrajectory,
  windowMeans,
} from "./measured-trajectory.js";

/** What the critic sees of each token. */
function features(t: SeenTrajectory): number[][] {
  const mixed = groupMixed(t);
  const blocks = ["think", "search", "python", "answer"];
  const [near, ahead] = [windowMeans(t.entropies, 10), windowMeans(t.entropies, Infinity)];
  return t.entropies.map((entropy, i) => [
    1,
    entropy,
    Math.min(entropy, 0.5),
    near[i]!,
    ahead[i]!,
    i / 60,
    t.calls[i]!,
    Number(t.calls[i] === 0),
    mixed[i]!.variance,
    mixed[i]!.shared / Math.max(1, t.group.length),
    ...blocks.map((block) => Number(t.blocks[i] === block)),
    Number(t.sinceResult[i] === 0),
  ]);
}

/** The weights of a linear model, by least squares with a ridge. */
export function ridge(
  inputs: readonly (readonly number[])[],
  wanted: ArrayLike<number>,
  penalty: number,
): number[] {
  const size = inputs[0]?.length ?? 0;
  const rows = Array.from({ length: size }, () => new Float64Array(size + 1));
  inputs.forEach((input, i) => {
    for (let a = 0; a < size; a++) {
      const row = rows[a]!;
      for (let b = a; b < size; b++) row[b]! += input[a]! * input[b]!;
      row[size]! += input[a]! * wanted[i]!;
    }
  });
  for (let a = 0; a < size; a++) {
    rows[a]![a]! += penalty;
    for (let b = 0; b < a; b++) rows[a]![b] = rows[b]![a]!;
  }
  // The matrix is positive definite: elimination needs no pivots.
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) {
      const factor = rows[b]![a]! / rows[a]![a]!;
      for (let c = a; c <= size; c++) rows[b]![c]! -= factor * rows[a]![c]!;
    }
  }
  const weights = new Array<number>(size).fill(0);
  for (let a = size - 1; a >= 0; a--) {
    let value = rows[a]![size]!;
    for (let b = a + 1; b < size; b++) value -= rows[a]![b]! * weights[b]!;
    weights[a] = value / rows[a]![a]!;
  }
  return weights;
}

const folds = 5;

/** What was fitted to some trajectories: several rules and questions ask for the same. */
const fitted = new WeakMap<readonly MeasuredTrajectory[], Float64Array[]>();

/** The variance that a critic expects at each token, fitted on the forks of other prompts; 0 where there are none. */
export function criticOf(
  measured: readonly MeasuredTrajectory[],
  prompts: readonly number[],
): Float64Array[] {
  const known = fitted.get(measured) ?? fit(measured, prompts);
  fitted.set(measured, known);
  return known;
}

function fit(measured: readonly MeasuredTrajectory[], prompts: readonly number[]): Float64Array[] {
  const inputs = measured.map(({ seen }) => features(seen));
  const weights = Array.from({ length: folds }, (_, fold) => {
    const others = measured.flatMap((_, i) => (prompts[i]! % folds === fold ? [] : [i]));
    return ridge(
      others.flatMap((i) => inputs[i]!),
      others.flatMap((i) => [...measured[i]!.variance]),
      5,
    );
  });
  return inputs.map((rows, i) => {
    const own = weights[prompts[i]! % folds]!;
    return Float64Array.from(rows, (row) =>
      Math.max(
        0,
        row.reduce((sum, x, j) => sum + x * (own[j] ?? 0), 0),
      ),
    );
  });
}
