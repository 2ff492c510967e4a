type Node = Map<string, Node> & { end?: boolean };

/** Finds special tokens in texts, whatever their number, as one reads: from the left, the longest first. */
export class SpecialTexts {
  readonly #root: Node = new Map();

  constructor(texts: Iterable<string>) {
    for (const text of texts) {
      let node = this.#root;
      for (let i = 0; i < text.length; i++) {
        const next: Node = node.get(text[i]!) ?? new Map<string, Node>();
        node.set(text[i]!, next);
        node = next;
      }
      if (text !== "") node.end = true;
    }
  }

  /** Where special tokens stand in a text, without overlaps. */
  *in(text: string): Generator<{ from: number; to: number }> {
    for (let from = 0; from < text.length; from++) {
      const { length } = this.#at(text, from);
      if (length === 0) continue;
      yield { from, to: from + length };
      from += length - 1;
    }
  }

  /** The places where a special token begins, or where one does that the text's end cuts off. */
  *beginnings(text: string): Generator<number> {
    for (let at = 0; at < text.length; at++) {
      const { length, isOpen } = this.#at(text, at);
      if (length > 0 || isOpen) yield at;
    }
  }

  /** The longest special token at a place, and whether the text ends within one. */
  #at(text: string, from: number): { length: number; isOpen: boolean } {
    let node: Node | undefined = this.#root;
    let length = 0;
    for (let i = from; i < text.length; i++) {
      node = node.get(text[i]!);
      if (!node) return { length, isOpen: false };
      if (node.end) length = i + 1 - from;
    }
    return { length, isOpen: node.size > 0 };
  }
}
