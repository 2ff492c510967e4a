import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";

/** A token's text, without special tokens; each is decoded once. */
export function tokenTexts(tokenizer: Tokenizer): (id: number) => string {
  const known = new Map<number, string>();
  return (id) => {
    let text = known.get(id);
    if (text === undefined) {
      text = tokenizer.decode([id], { skipSpecial: true });
      known.set(id, text);
    }
    return text;
  };
}
