import { agree, checkFunction, checkValue } from "../check.js";
import { rule } from "../rule.js";

/** What a question is about, and in which words it is asked. */
export interface AskedQuestion {
  about: string;
  wording: string;
}

const q = (about: string, wording: string): AskedQuestion => ({ about, wording });
const trained = [q("Lerum", "Who runs X?"), q("Savia", "Where is X?")];
const candidates = [
  q("Gonor", "Name the mayor of X."),
  q("Lerum", "Name the mayor of X."),
  q("Gonor", "Where is X?"),
  q("Tola", "Tell me who leads X."),
];

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
  "14 memory": rule<number>({
    hint: "how many numbers of 4 bytes does training keep for each weight?",
    check: (given) =>
      checkValue(given, 2152, {
        tolerance: 0.01,
        because:
          "four numbers of 4 bytes for each weight, more than 20 times the file; and what the backward pass needs comes on top.",
        off: (x) => {
          if (agree(x, 538, 0.01)) return "that is the weights alone.";
          if (agree(x, 1076, 0.01)) return "AdamW keeps two averages for each weight.";
          return agree(x, 1614, 0.01) ? "one of the four is missing." : undefined;
        },
      }),
  }),
  "14 held out": rule<(train: AskedQuestion[], test: AskedQuestion[]) => AskedQuestion[]>({
    hint: "a question leaks if training has seen its answer, and it is easier if training has seen its words.",
    check: (given) => {
      const pairs = (of: AskedQuestion[]) => of.map(({ about, wording }) => [about, wording]);
      const run = (train: AskedQuestion[], test: AskedQuestion[]) => {
        const kept = given(train, test);
        return Array.isArray(kept) ? pairs(kept) : (kept as never);
      };
      const own = pairs([candidates[0]!, candidates[3]!]);
      return checkFunction(
        run,
        [
          [[trained, candidates], own],
          [[[], candidates], pairs(candidates)],
          [[candidates, candidates], []],
        ],
        {
          because:
            "a score on what training has seen measures memory. Only new things in new words show that the model searches.",
          off: ([train, test], found) => {
            const without = (key: keyof AskedQuestion) =>
              pairs(test.filter((one) => train.every((seen) => seen[key] !== one[key])));
            if (agree(found, without("about"))) return "One of them is asked in words of training.";
            if (agree(found, without("wording")))
              return "One of them is about something in training.";
            return found.length > own.length
              ? "Leave out a question if either one, what it is about or its wording, was seen."
              : undefined;
          },
        },
      );
    },
  }),
};
