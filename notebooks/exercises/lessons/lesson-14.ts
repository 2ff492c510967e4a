import { checkValue } from "../check.js";
import { rule } from "../rule.js";
import { right, wrong } from "../verdict.js";

/** What demonstrations about the test's own country would teach. */
export type Learned = "the tags" | "the facts" | "the wordings";

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
  "14 country": rule<Learned>({
    hint: "which of the three is different in the other country?",
    check: (given) => {
      if (given === "the tags") return wrong("the tags are the same wherever one searches.");
      return given === "the facts"
        ? right(
            "a model that knows the facts by heart need not search, and fails where they differ.",
          )
        : wrong("the wordings of the test are held out from training in any country.");
    },
  }),
};
