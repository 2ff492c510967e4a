import { deviation, mean } from "../advantage/estimator.js";
import { type CreditTerm, short } from "./credit.js";

/** A group's centre and what its values are divided by, without the epsilon. */
export interface Norm {
  centre: number;
  width: number;
}

/** Mean and sample deviation; a group of one has mean 0 and deviation 1, so its value stays. */
export function sampleNorm(values: readonly number[]): Norm {
  return values.length === 1
    ? { centre: 0, width: 1 }
    : { centre: mean(values), width: deviation(values) };
}

/** Population deviation, n in the denominator. */
export function populationDeviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / values.length);
}

/** (value - centre) / (width + epsilon), as a term. */
export function normTerm(
  name: string,
  value: number,
  { centre, width }: Norm,
  epsilon: number,
): CreditTerm {
  return {
    name,
    value: (value - centre) / (width + epsilon),
    from: `(${short(value)} - ${short(centre)}) / ${short(width + epsilon)}`,
  };
}

/** A division, as a factor. */
export function overWidth(name: string, width: number): CreditTerm {
  return { name: `over ${name}`, value: 1 / width, from: `1 / ${short(width)}` };
}

/** The values of every group, in the order of rows. */
export function perGroup<T>(
  groups: readonly (string | number)[],
  values: readonly T[],
): Map<string | number, T[]> {
  const found = new Map<string | number, T[]>();
  groups.forEach((group, i) => {
    const list = found.get(group);
    if (list) list.push(values[i]!);
    else found.set(group, [values[i]!]);
  });
  return found;
}
