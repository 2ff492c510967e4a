import { showsLive } from "#platform/note";
import { stripVTControlCharacters } from "node:util";

/** Lines that stay at the bottom of a terminal and change in place. */
export interface LiveLines {
  /** Shows other lines in their place; "" takes them away. */
  set: (text: string) => void;
  /** Prints a line above them. */
  print: (line: string) => void;
}

/** Shows lines in place where the stream is a terminal; elsewhere they are left out and `print` is all. */
export function liveLines(stream: NodeJS.WriteStream): LiveLines {
  let rows = 0;
  let shown = "";
  const width = () => Math.max(20, stream.columns || 80);
  const clear = () => (rows === 0 ? "" : `\r${"\u001b[A".repeat(rows - 1)}\u001b[J`);
  const draw = (text: string) => {
    // A line that breaks would not be cleared: what does not fit is cut.
    const lines = text === "" ? [] : text.split("\n").map((line) => line.slice(0, width() - 1));
    rows = lines.length;
    return lines.join("\n");
  };
  return {
    set: (text) => {
      const plain = stripVTControlCharacters(text);
      if (!stream.isTTY || plain === shown) return;
      shown = plain;
      const before = clear();
      stream.write(before + draw(plain));
      showsLive(plain !== "");
    },
    print: (line) => {
      const before = stream.isTTY ? clear() : "";
      stream.write(`${before}${line}\n${stream.isTTY ? draw(shown) : ""}`);
    },
  };
}

/** Shows a line of progress in place where there is a terminal; `text` is made only where it is shown. */
export function progressLine(live: LiveLines | undefined): (text: () => string) => void {
  let shownAt = -Infinity;
  return (text) => {
    // More often than ten times a second nobody reads.
    if (!live || performance.now() < shownAt + 100) return;
    shownAt = performance.now();
    live.set(text());
  };
}
