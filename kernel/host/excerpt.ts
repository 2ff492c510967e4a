/** Text in red, as terminals and notebooks show it. */
export const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;
/** Text in grey. */
export const dim = (text: string): string => `\u001b[2m${text}\u001b[22m`;

/** Characters of a line that are shown: those around the column. */
const WIDTH = 240;

/** The line, those beside it, and a mark below the column. */
export function excerpt(lines: string[], line: number, column: number): string[] {
  const out: string[] = [];
  const from = column <= WIDTH / 2 ? 0 : column - WIDTH / 2;
  const cut = (text: string): string => {
    if (from === 0 && text.length <= WIDTH) return text;
    const end = text.length > from + WIDTH ? "…" : "";
    return `${from > 0 ? "…" : ""}${text.slice(from, from + WIDTH)}${end}`;
  };
  const at = column - from + (from > 0 ? 1 : 0);
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  for (let n = Math.max(1, line - 1); n <= last; n++) {
    const text = cut(lines[n - 1] ?? "");
    out.push(`${n === line ? red(">") : " "} ${dim(String(n).padStart(width))} ${text}`);
    if (n === line) out.push(`  ${" ".repeat(width + Math.max(1, at))}${red("^")}`);
  }
  return out;
}
