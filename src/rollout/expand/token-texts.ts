import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { isMeaningless } from "../branch/family/appo.js";
import { isClosing } from "../branch/family/treerl.js";

/** What the rules ask about the texts of tokens; each token is decoded once. */
export function tokenTexts(tokenizer: Tokenizer | undefined) {
  const known = new Map<number, { blank: boolean; meaningless: boolean; closing: boolean }>();
  const of = (id: number) => {
    let said = known.get(id);
    if (!said) {
      const text = tokenizer?.decode([id], { skipSpecial: true }) ?? "";
      said = {
        blank: text.trim() === "",
        meaningless: isMeaningless(text),
        closing: isClosing(text),
      };
      known.set(id, said);
    }
    return said;
  };
  return {
    isBlank: (id: number) => of(id).blank,
    isMeaningless: (id: number) => of(id).meaningless,
    isClosing: (id: number) => of(id).closing,
  };
}
