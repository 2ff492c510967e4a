import type { ColumnMap } from "../../contract/column-map.js";

interface Edit {
  start: number;
  end: number;
  text: string;
  /** What stands there in the same text without what the kernel adds. */
  plain: string;
  /** Where the text comes from when that is not here. */
  origin?: number;
}

/** A text that was changed, and where its columns come from. */
export interface Changed {
  text: string;
  columns: ColumnMap["columns"];
}

/** What the compiler and V8 count as the end of a line. */
const lineBreak = /\r\n?|[\n\u2028\u2029]/g;

/** A place in a text: its line and, in that, the column. */
class Place {
  line = 1;
  column = 0;

  pass(text: string): this {
    let last = 0;
    lineBreak.lastIndex = 0;
    while (lineBreak.test(text)) {
      this.line++;
      this.column = 0;
      last = lineBreak.lastIndex;
    }
    this.column += text.length - last;
    return this;
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
    this.#edits.push({ start: at, end: at, text, plain: text });
  }

  replace(start: number, end: number, text: string): void {
    const all = text + this.#lineBreaks(start, end);
    this.#edits.push({ start, end, text: all, plain: all });
  }

  /** Something is left, so that what stood on either side stays apart. */
  remove(start: number, end: number): void {
    const text = this.#lineBreaks(start, end) || " ";
    this.#edits.push({ start, end, text, plain: text });
  }

  /** What only the kernel needs. */
  add(at: number, text: string, origin?: number): void {
    this.#edits.push({ start: at, end: at, text, plain: "", origin });
  }

  /** The same in the place of something: of `plain` in the text without such additions. */
  addFor(start: number, end: number, text: string, plain?: string): void {
    const breaks = this.#lineBreaks(start, end);
    const left = plain === undefined ? this.#text.slice(start, end) : plain + breaks;
    this.#edits.push({ start, end, text: text + breaks, plain: left });
  }

  #lineBreaks(start: number, end: number): string {
    return this.#text.slice(start, end).replace(/[^\n\r\u2028\u2029]+/g, "");
  }

  /** The changed text, and where its columns come from. `plain`: without what only the kernel needs. */
  apply(plain = false): Changed {
    const edits = this.#edits.sort((a, b) => a.start - b.start);
    const columns: ColumnMap["columns"] = {};
    const from = new Place();
    const to = new Place();
    let at = 0;
    let out = "";
    for (const edit of edits) {
      const { start, end, origin } = edit;
      const text = plain ? edit.plain : edit.text;
      const copied = this.#text.slice(at, start);
      from.pass(copied);
      to.pass(copied);
      const runs = (columns[to.line] ??= []);
      if (origin === undefined) runs.push([to.column, from.column, 0]);
      else {
        const { line, column } = new Place().pass(this.#text.slice(0, origin));
        runs.push([to.column, column, 0, line]);
      }
      from.pass(this.#text.slice(start, end));
      to.pass(text);
      (columns[to.line] ??= []).push([to.column, from.column, 1]);
      out += copied + text;
      at = end;
    }
    return { text: out + this.#text.slice(at), columns };
  }
}
