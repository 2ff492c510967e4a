import { InvalidArgumentError } from "commander";

/** Reads an option that is a whole number. */
export const whole =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const to = most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : "";
    throw new InvalidArgumentError(`It must be a whole number from ${least}${to}.`);
  };
