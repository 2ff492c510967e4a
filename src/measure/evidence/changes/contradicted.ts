import type { Random } from "../../../base/random/random.js";
import type { ChangeDefinition } from "./definition.js";

/** Another number of as many digits. */
function otherNumber(digits: string, random: Random): string {
  for (;;) {
    const made = [...digits].map((digit, i) => {
      // As many digits stay: the first of several is no 0 where it was none.
      const least = i === 0 && digits.length > 1 && digit !== "0" ? 1 : 0;
      return String(least + random.integer(10 - least));
    });
    if (made.join("") !== digits) return made.join("");
  }
}

export const contradicted = {
  name: "contradicted",
  said: "with other numbers (the same number is the same everywhere); without numbers, denied",
  change: ({ text, random }) => {
    if (text.trim() === "") return undefined;
    const known = new Map<string, string>();
    const other = text.replace(/\d+/g, (digits) => {
      if (!known.has(digits)) known.set(digits, otherNumber(digits, random));
      return known.get(digits)!;
    });
    return other === text ? `It is not true that: ${text}` : other;
  },
} satisfies ChangeDefinition;
