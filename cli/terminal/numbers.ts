import { InvalidArgumentError } from "commander";

/** `1..10` or `1,2,5`. */
export function seeds(text: string): number[] {
  const range = /^(\d+)\.\.(\d+)$/.exec(text);
  const all = range
    ? Array.from(
        { length: Math.max(0, Number(range[2]) - Number(range[1]) + 1) },
        (_, i) => Number(range[1]) + i,
      )
    : text.split(",").map(Number);
  if (all.length > 0 && all.every((seed) => Number.isSafeInteger(seed))) return all;
  throw new InvalidArgumentError("It must be 1..10 or 1,2,5.");
}

/** Reads an option that is a whole number. */
export const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const to = most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : "";
    throw new InvalidArgumentError(`It must be a whole number from ${least}${to}.`);
  };
