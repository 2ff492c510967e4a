import { type Numbers, numericSummary, strideOf } from "./numeric.js";

const maxRows = 24;
const maxColumns = 96;
const levels = 24;
const width = 480;

type Rgb = [number, number, number];
const low: Rgb = [33, 102, 172];
const middle: Rgb = [240, 240, 236];
const high: Rgb = [178, 24, 43];
const dark: Rgb = [48, 18, 90];
const bright: Rgb = [250, 220, 90];

function mix(a: Rgb, b: Rgb, t: number): string {
  const part = (i: number): string =>
    Math.round(a[i]! + (b[i]! - a[i]!) * t)
      .toString(16)
      .padStart(2, "0");
  return `#${part(0)}${part(1)}${part(2)}`;
}

/** The colour of a level: blue-white-red about zero, or dark to bright for one sign. */
function colorOf(level: number, diverging: boolean): string {
  const t = level / (levels - 1);
  if (!diverging) return mix(dark, bright, t);
  return t < 0.5 ? mix(low, middle, 2 * t) : mix(middle, high, 2 * t - 1);
}

/** The mean of each bin of rows and columns; NaN where a bin holds nothing finite. */
function bins(
  values: Numbers,
  rows: number,
  columns: number,
): { grid: number[][]; bad: boolean[][] } {
  const [nr, nc] = [Math.min(rows, maxRows), Math.min(columns, maxColumns)];
  const stride = strideOf(values.length);
  const grid: number[][] = [];
  const bad: boolean[][] = [];
  for (let r = 0; r < nr; r++) {
    const [r0, r1] = [Math.floor((r * rows) / nr), Math.floor(((r + 1) * rows) / nr)];
    const line: number[] = [];
    const badLine: boolean[] = [];
    for (let c = 0; c < nc; c++) {
      const [c0, c1] = [Math.floor((c * columns) / nc), Math.floor(((c + 1) * columns) / nc)];
      let [sum, count, broken] = [0, 0, false];
      for (let i = r0; i < r1; i++) {
        for (let j = c0 + ((i * columns) % stride); j < c1; j += stride) {
          const x = Number(values[i * columns + j]);
          if (Number.isFinite(x)) {
            sum += x;
            count++;
          } else broken = true;
        }
      }
      line.push(count > 0 ? sum / count : NaN);
      badLine.push(broken);
    }
    grid.push(line);
    bad.push(badLine);
  }
  return { grid, bad };
}

/**
 * Numbers as a strip of colour, one cell per bin of at most 24 x 96: an inline SVG. A bin that holds a
 * NaN or an infinity is magenta, so one bad number in a million still shows.
 */
export function heatStrip(values: Numbers, shape: readonly number[]): string {
  const columns = shape.at(-1) ?? 1;
  const rows = columns === 0 ? 0 : values.length / columns;
  if (rows === 0 || columns === 0) return "";
  const { grid, bad } = bins(values, rows, columns);
  // Means of bins vary less than the numbers do: the colours span what is drawn.
  const drawn = numericSummary(grid.flat());
  const diverging = drawn.min < 0 && drawn.max > 0;
  const reach = Math.max(-drawn.min, drawn.max);
  const [from, to] = diverging ? [-reach, reach] : [drawn.min, drawn.max];
  const paths = new Map<string, string>();
  grid.forEach((line, r) => {
    for (let c = 0; c < line.length;) {
      const color = cellColor(line[c]!, bad[r]![c]!);
      let end = c + 1;
      while (end < line.length && cellColor(line[end]!, bad[r]![end]!) === color) end++;
      const piece = `M${c} ${r}h${end - c}v1H${c}z`;
      paths.set(color, (paths.get(color) ?? "") + piece);
      c = end;
    }
  });
  function cellColor(x: number, broken: boolean): string {
    if (broken || Number.isNaN(x)) return "#ff00ff";
    const t = to > from ? (x - from) / (to - from) : 0.5;
    return colorOf(Math.round(t * (levels - 1)), diverging);
  }
  const [nr, nc] = [grid.length, grid[0]!.length];
  const height = Math.max(14, Math.min(nr * 10, 160));
  const body = [...paths].map(([fill, d]) => `<path fill="${fill}" d="${d}"/>`).join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.min(width, nc * 20)}" height="${height}" ` +
    `viewBox="0 0 ${nc} ${nr}" preserveAspectRatio="none" shape-rendering="crispEdges" ` +
    `role="img" aria-label="values as colours">${body}</svg>`
  );
}
