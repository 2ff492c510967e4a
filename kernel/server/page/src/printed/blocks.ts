/** A part of a text that is drawn at once. */
export interface Block {
  /** Where it ends. */
  end: number;
  lines: number;
  /** Whether what is added to the text goes into other blocks. */
  isFull: boolean;
}

const maxLines = 100;
const maxChars = 16_384;
/** A line longer than this is broken. */
const maxLine = 4 * maxChars;

/** The block of `text` that begins at `start`. */
export function nextBlock(text: string, start: number): Block {
  let end = start;
  for (let lines = 0; end < text.length;) {
    const at = text.indexOf("\n", end);
    if (at < 0 || at - start >= maxLine) break;
    end = at + 1;
    if (++lines >= maxLines || end - start >= maxChars) return { end, lines, isFull: true };
  }
  if (text.length - start < maxLine) return { end: text.length, lines: 0, isFull: false };
  if (end > start) return { end, lines: 1, isFull: true };
  return { end: cut(text, start, start + maxLine), lines: 1, isFull: true };
}

/** The last place up to `end` that is not within a character or an escape sequence. */
function cut(text: string, start: number, end: number): number {
  const unit = text.charCodeAt(end);
  const place = unit >= 0xdc00 && unit <= 0xdfff ? end - 1 : end;
  const escape = text.lastIndexOf("\x1b", place - 1);
  const isWithin =
    escape > start && place - escape < 32 && !text.slice(escape, place).includes("m");
  return isWithin ? escape : place;
}

/** The escape sequences in force after `text`, where `before` were in force ahead of it. */
export function carriedColours(before: string, text: string): string {
  if (!text.includes("\x1b")) return before;
  let colours = before;
  for (const [sequence, codes] of text.matchAll(/\x1b\[([\d;]*)m/g)) {
    if (/^0*$/.test(codes!)) colours = "";
    else if (!colours.endsWith(sequence)) colours += sequence;
  }
  // What is set again and again need be set once.
  return colours.length > 500
    ? colours.slice(colours.indexOf("\x1b", colours.length - 500))
    : colours;
}
