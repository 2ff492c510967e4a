import { checkValue } from "../check.js";
import { rule } from "../rule.js";

/** A model in one file. */
export const lesson14 = {
  "14 bits": rule<number>({
    hint: "count the bits of a whole block, then share them out.",
    check: (given) =>
      checkValue(given, 5, {
        because:
          "(16 + 16 + 32 × 4) / 32: 20 bytes a block, one bit a weight for scale and offset.",
        off: (x) => {
          if (x === 4) return "the scale and the offset are kept too.";
          return x === 4.5 ? "that is Q4_0, which has no offset." : undefined;
        },
      }),
  }),
};
