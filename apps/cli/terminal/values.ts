import { InvalidArgumentError } from "commander";

// How the values of options are read.

const refused = (must: string) => new InvalidArgumentError(`It must ${must}.`);

/** Values of an option that may be repeated. */
export const list = (text: string, before: string[] = []): string[] => [...before, text];

const numeric =
  (must: string, holds: (value: number) => boolean) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== "" && holds(value)) return value;
    throw refused(`be ${must}`);
  };

export const finite = numeric("a number", Number.isFinite);
export const positive = numeric("a number above 0", (value) => value > 0);
export const seconds = numeric("a number of seconds above 0", (value) => value > 0);
export const notNegative = numeric("a number of 0 or more", (x) => x >= 0 && x < Infinity);

/** A whole number. */
export const whole = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  numeric(
    `a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ""}`,
    (value) => Number.isInteger(value) && value >= least && value <= most,
  );
export const port = whole(0, 65535);

/** `key=value` among those before; `form` says what it must look like. */
export const pair =
  <T>(form: string, read: (value: string) => T) =>
  (text: string, before: Record<string, T> = {}): Record<string, T> => {
    const [, key, value] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
    if (key === undefined || value === undefined) throw refused(`read ${form}`);
    return { ...before, [key]: read(value) };
  };

/** `1..10` or `1,2,5`. */
export function seeds(text: string): number[] {
  const [, first, last] = /^(\d+)\.\.(\d+)$/.exec(text)?.map(Number) ?? [];
  const all =
    first === undefined
      ? text.split(",").map(Number)
      : Array.from({ length: Math.max(0, last! - first + 1) }, (_, i) => first + i);
  if (all.length > 0 && all.every((seed) => Number.isSafeInteger(seed))) return all;
  throw refused("be 1..10 or 1,2,5");
}
