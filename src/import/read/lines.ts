import { joinBytes, utf8Text } from "#platform/bytes";
import { readPieces } from "#platform/files";

/** A line of a file, or why it is none. */
export interface FileLine {
  line: number;
  /** Absent for a line that is longer than any may be. */
  text?: string;
  /** Bytes of the file up to its end. */
  bytes: number;
}

/** Bytes a line may have: more is no record, and a file without line ends is not read into memory. */
export const longestLine = 128 << 20;

const newline = 10;

/**
 * The lines of a file, one after another: no more of it is in memory than a line. Any of the ends that
 * lines have is taken off.
 */
export async function* readLines(
  path: string,
  options: { signal?: AbortSignal; longest?: number } = {},
): AsyncGenerator<FileLine> {
  const { longest = longestLine, signal } = options;
  const stream = readPieces(path, signal);
  let pieces: Uint8Array[] = [];
  let [length, line, bytes] = [0, 0, 0];
  const take = (): FileLine => {
    const whole = length <= longest ? joinBytes(pieces) : undefined;
    line++;
    [pieces, length] = [[], 0];
    if (!whole) return { line, bytes };
    const text = utf8Text(whole).replace(/\r$/, "");
    return { line, bytes, text: line === 1 ? text.replace(/^\uFEFF/, "") : text };
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end; (end = chunk.indexOf(newline, from)) >= 0; from = end + 1) {
      const piece = chunk.subarray(from, end);
      length += piece.length;
      if (length <= longest) pieces.push(piece);
      bytes += end + 1 - from;
      yield take();
    }
    const rest = chunk.subarray(from);
    length += rest.length;
    bytes += rest.length;
    if (length <= longest) pieces.push(rest);
    else pieces = [];
  }
  if (length > 0) yield take();
}
