// The tool: <calc>…</calc> with arithmetic, a unit conversion, or clock times.
import { calculator, type Tool } from "arpo-lab/tools";

const arithmetic = calculator();

/** What one unit is in the base unit of its kind. */
const units: Record<string, readonly [kind: string, size: number]> = {
  ...{ g: ["mass", 1], kg: ["mass", 1000], oz: ["mass", 28.35], lb: ["mass", 453.6] },
  ...{ ml: ["volume", 1], l: ["volume", 1000], cup: ["volume", 240] },
  ...{ tbsp: ["volume", 15], tsp: ["volume", 5], pint: ["volume", 473] },
  ...{ cm: ["length", 1], m: ["length", 100], inch: ["length", 2.54], foot: ["length", 30.48] },
  ...{ km: ["road", 1], mile: ["road", 1.609] },
};

const rounded = (value: number) => String(Number(value.toFixed(2)));
const minutes = (time: string) => {
  const [hours, rest] = time.split(":").map(Number);
  return hours! * 60 + rest!;
};
const clock = (time: number) => `${Math.floor(time / 60)}:${String(time % 60).padStart(2, "0")}`;

const tool: Tool = {
  name: "desk calculator",
  tag: "calc",
  description: "Computes 3 * 2.40 + 1.15, 2.5 lb to g, 18:00 - 7:30 and 9:45 + 2:50.",
  async execute(input, call) {
    const [, amount, from = "", to = ""] = /^([\d.]+) (\w+) to (\w+)$/.exec(input) ?? [];
    if (amount !== undefined) {
      const [one, other] = [units[from], units[to]];
      // An answer, not a failure of the tool: the model can read it and call again.
      if (!one || !other) return `Error: unknown unit ${one ? to : from}`;
      if (one[0] !== other[0]) return `Error: ${from} is no ${other[0]}`;
      return `${rounded((Number(amount) * one[1]) / other[1])} ${to}`;
    }
    const [, start, sign, end] = /^(\d+:\d\d) ([+-]) (\d+:\d\d)$/.exec(input) ?? [];
    if (start !== undefined && end !== undefined) {
      const change = sign === "+" ? minutes(end) : -minutes(end);
      return clock((minutes(start) + change + 1440) % 1440);
    }
    const value = String(await arithmetic.execute(input, call));
    return Number.isFinite(Number(value)) ? rounded(Number(value)) : value;
  },
};
export default tool;
