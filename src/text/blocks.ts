/** A span of a text between two marks. */
interface Block {
  /** Where the opening mark begins, and where the closing one ends. */
  from: number;
  to: number;
  /** What stands between the marks. */
  inner: string;
}

/**
 * The spans of a text from an opening mark to the next closing one, read from the left without
 * overlaps. A text is read once, however many marks in it are never closed, which a pattern with `*?`
 * does not promise.
 */
export function* blocks(text: string, open: string, close: string): Generator<Block> {
  for (let at = 0; ;) {
    const from = text.indexOf(open, at);
    const end = from < 0 ? -1 : text.indexOf(close, from + open.length);
    if (end < 0) return;
    at = end + close.length;
    yield { from, to: at, inner: text.slice(from + open.length, end) };
  }
}
