import { escapeHtml } from "../../display/html.js";

interface Style {
  color?: string;
  background?: string;
  marks: Set<string>;
}

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const marks: Record<number, string> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};
const unmarks: Record<number, string[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

/** The colour of the 256 that terminals number. */
function indexed(n: number): string {
  if (n < 8) return `var(--ansi-${names[n]})`;
  if (n < 16) return `var(--ansi-bright-${names[n - 8]})`;
  if (n >= 232) return `rgb(${[0, 0, 0].map(() => 8 + (n - 232) * 10).join(",")})`;
  const level = (v: number): number => (v === 0 ? 0 : 55 + 40 * v);
  const m = n - 16;
  return `rgb(${level(Math.floor(m / 36))},${level(Math.floor(m / 6) % 6)},${level(m % 6)})`;
}

/** An extended colour after 38 or 48: `5;n` or `2;r;g;b`; takes its numbers from the list. */
function extended(codes: number[]): string | undefined {
  const kind = codes.shift();
  if (kind === 5) return indexed(Math.min(255, codes.shift() ?? 0));
  if (kind !== 2) return undefined;
  return `rgb(${codes
    .splice(0, 3)
    .map((v) => Math.min(255, v))
    .join(",")})`;
}

/** More codes than these in one sequence are none of a terminal's. */
const mostCodes = 64;

function apply(style: Style, codes: number[]): void {
  while (codes.length > 0) {
    const code = codes.shift()!;
    if (code === 0) {
      style.color = style.background = undefined;
      style.marks.clear();
    } else if (marks[code] !== undefined) style.marks.add(marks[code]);
    else if (unmarks[code] !== undefined) unmarks[code].forEach((mark) => style.marks.delete(mark));
    else if (code >= 30 && code <= 37) style.color = indexed(code - 30);
    else if (code >= 40 && code <= 47) style.background = indexed(code - 40);
    else if (code >= 90 && code <= 97) style.color = indexed(code - 82);
    else if (code >= 100 && code <= 107) style.background = indexed(code - 92);
    else if (code === 38) style.color = extended(codes) ?? style.color;
    else if (code === 48) style.background = extended(codes) ?? style.background;
    else if (code === 39) style.color = undefined;
    else if (code === 49) style.background = undefined;
  }
}

function span(text: string, style: Style): string {
  if (text === "") return "";
  const css: string[] = [];
  if (style.color !== undefined) css.push(`color:${style.color}`);
  if (style.background !== undefined) css.push(`background:${style.background}`);
  const classes = [...style.marks].map((mark) => `ansi-${mark}`).join(" ");
  if (css.length === 0 && classes === "") return escapeHtml(text);
  const attributes = [
    classes === "" ? "" : ` class="${classes}"`,
    css.length === 0 ? "" : ` style="${css.join(";")}"`,
  ];
  return `<span${attributes.join("")}>${escapeHtml(text)}</span>`;
}

/** What is left on a line where carriage returns went back to its start, as a terminal shows it. */
function overwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => {
      let end = line.length;
      while (end > 0 && line[end - 1] === "\r") end--;
      return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
    })
    .join("\n");
}

/** Text with the colours of a terminal as HTML; other control sequences are dropped. */
export function ansiHtml(text: string): string {
  const style: Style = { marks: new Set() };
  let out = "";
  let at = 0;
  const clean = overwritten(text);
  for (const match of clean.matchAll(/\x1b\[([0-9;]*)([A-Za-z])|\x1b\][^\x07]*(?:\x07|$)/g)) {
    out += span(clean.slice(at, match.index), style);
    at = match.index + match[0].length;
    if (match[2] === "m") apply(style, (match[1] ?? "").split(";", mostCodes).map(Number));
  }
  return out + span(clean.slice(at), style);
}
