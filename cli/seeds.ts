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
