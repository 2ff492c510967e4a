/** Text put together from pieces of a cell and pieces of our own, which knows which is which. */
export class MappedText {
  text = "";
  readonly #pieces: { at: number; from: number; length: number }[] = [];

  /** Adds text that is nowhere in the cell. */
  add(text: string): this {
    this.text += text;
    return this;
  }

  /** Adds [from, to) of the cell. */
  copy(source: string, from: number, to: number): this {
    this.#pieces.push({ at: this.text.length, from, length: to - from });
    this.text += source.slice(from, to);
    return this;
  }

  /** Where a position of the text is in the cell: of made text, the nearest piece before it. */
  toSource(position: number): number {
    let nearest: number | undefined;
    for (const { at, from, length } of this.#pieces) {
      if (position >= at && position <= at + length) return from + position - at;
      if (at + length < position) nearest = from + length;
    }
    return nearest ?? this.#pieces[0]?.from ?? 0;
  }

  /** Where a position of the cell is in the text; undefined where it was not copied. */
  toText(position: number): number | undefined {
    for (const { at, from, length } of this.#pieces) {
      if (position >= from && position <= from + length) return at + position - from;
    }
    return undefined;
  }
}
