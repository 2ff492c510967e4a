import type { ColumnMap } from "../../contract/compiler.js";

interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A place in a text: its line and, in that, the column. */
class Place {
  line = 1;
  column = 0;

  pass(text: string): void {
    let last = -1;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      this.line++;
      last = at;
    }
    this.column = last < 0 ? this.column + text.length : text.length - last - 1;
  }
}

/**
 * Changes to a text, applied together. Lines stay where they are: what goes in holds no line break, and
 * what is taken out leaves its own behind. Changes at one place keep the order in which they were made.
 */
export class Edits {
  readonly #text: string;
  readonly #edits: Edit[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  insert(at: number, text: string): void {
    this.#edits.push({ start: at, end: at, text });
  }

  replace(start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text: text + this.#lineBreaks(start, end) });
  }

  /** Something is left, so that what stood on either side stays apart. */
  remove(start: number, end: number): void {
    this.#edits.push({ start, end, text: this.#lineBreaks(start, end) || " " });
  }

  #lineBreaks(start: number, end: number): string {
    return this.#text.slice(start, end).replace(/[^\n]+/g, "");
  }

  /** The changed text, and where its columns come from. */
  apply(): { text: string; columns: ColumnMap["columns"] } {
    const edits = this.#edits.sort((a, b) => a.start - b.start);
    const columns: ColumnMap["columns"] = {};
    const from = new Place();
    const to = new Place();
    let at = 0;
    let out = "";
    const note = (copied: 0 | 1): void => {
      (columns[to.line] ??= []).push([to.column, from.column, copied]);
    };
    for (const { start, end, text } of edits) {
      const copied = this.#text.slice(at, start);
      from.pass(copied);
      to.pass(copied);
      note(0);
      from.pass(this.#text.slice(start, end));
      to.pass(text);
      note(1);
      out += copied + text;
      at = end;
    }
    return { text: out + this.#text.slice(at), columns };
  }
}
