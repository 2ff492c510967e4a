import type { MimeBundle } from "../host/host.js";
import { escapeHtml } from "./html.js";
import { formatNumber } from "./inspect.js";
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
function heatStrip(values: Numbers, shape: readonly number[]): string {
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

/** What a tfjs tensor is recognised by; no copy of tfjs is imported. */
export interface TensorLike {
  shape: number[];
  dtype: string;
  size: number;
  isDisposed?: boolean;
  name?: string;
  dataSync(): unknown;
  data(): Promise<unknown>;
}

/** True for a tensor or a variable of any copy of tfjs. */
export function isTensor(value: object): value is TensorLike {
  const t = value as Partial<TensorLike>;
  return (
    Array.isArray(t.shape) &&
    typeof t.dtype === "string" &&
    typeof t.size === "number" &&
    typeof t.dataSync === "function" &&
    typeof t.data === "function"
  );
}

const edge = 3;

/** Nested brackets with the middle of long axes left out, as numerical libraries print. */
function nestedText(
  item: (i: number) => string,
  shape: readonly number[],
  size: number,
  axis = 0,
  offset = 0,
): string {
  if (axis === shape.length) return item(offset);
  const length = shape[axis]!;
  const stride = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const all = size <= 200 || length <= 2 * edge;
  const shown = all
    ? Array.from({ length }, (_, i) => i)
    : [...Array(edge).keys(), -1, ...Array.from({ length: edge }, (_, i) => length - edge + i)];
  const last = axis === shape.length - 1;
  const separator = last ? ", " : `,\n${" ".repeat(axis + 1)}`;
  const parts = shown.map((i) =>
    i < 0 ? "…" : nestedText(item, shape, size, axis + 1, offset + i * stride),
  );
  return `[${parts.join(separator)}]`;
}

/** One line of statistics; what is zero is left out. */
function statisticsText(values: Numbers): string {
  const s = numericSummary(values);
  if (s.size === 0) return "empty";
  const parts = [
    `min ${formatNumber(s.min)}`,
    `mean ${formatNumber(s.mean)}`,
    `max ${formatNumber(s.max)}`,
    `std ${formatNumber(s.std)}`,
  ];
  if (s.nan > 0) parts.push(`${s.nan} NaN`);
  if (s.infinite > 0) parts.push(`${s.infinite} infinite`);
  const stride = strideOf(s.size);
  if (stride > 1) parts.push(`(of one value in ${stride})`);
  return parts.join("  ");
}

/** The bundle of a titled block of numbers: statistics, colours, and the numbers themselves. */
export function numbersBundle(
  title: string,
  values: Numbers,
  shape: readonly number[],
): MimeBundle {
  const statistics = statisticsText(values);
  const item = (i: number): string => {
    const x = values[i]!;
    return typeof x === "bigint" ? `${x}n` : formatNumber(x);
  };
  const nested = nestedText(item, shape, values.length);
  const strip = heatStrip(values, shape);
  const html =
    `<div><div><b>${escapeHtml(title)}</b></div>` +
    `<div style="opacity:.8">${escapeHtml(statistics)}</div>${strip}` +
    `<details><summary>values</summary><pre>${escapeHtml(nested)}</pre></details></div>`;
  return { "text/plain": `${title}  ${statistics}\n${nested}`, "text/html": html };
}

function title(tensor: TensorLike): string {
  const name = typeof tensor.name === "string" ? `Variable ${tensor.name}` : "Tensor";
  return `${name} ${tensor.dtype} [${tensor.shape.join(", ")}]`;
}

function ofData(tensor: TensorLike, data: unknown): MimeBundle {
  const values = data as ArrayLike<unknown>;
  if (tensor.dtype === "string" || typeof values[0] === "string") {
    const text = nestedText((i) => JSON.stringify(values[i]), tensor.shape, tensor.size);
    return { "text/plain": `${title(tensor)}\n${text}` };
  }
  if (tensor.dtype === "complex64") {
    const complex = values as ArrayLike<number>;
    const text = nestedText(
      (i) => `${formatNumber(complex[2 * i]!)}+${formatNumber(complex[2 * i + 1]!)}i`,
      tensor.shape,
      tensor.size,
    );
    return { "text/plain": `${title(tensor)}\n${text}` };
  }
  return numbersBundle(title(tensor), values as Numbers, tensor.shape);
}

/** A tensor's shape, type, statistics, colours and values; a promise where only an async read works. */
export function tensorBundle(tensor: TensorLike): MimeBundle | Promise<MimeBundle> {
  if (tensor.isDisposed === true) {
    return { "text/plain": `${title(tensor)} (disposed)` };
  }
  let data: unknown;
  try {
    data = tensor.dataSync();
  } catch {
    // WebGPU in Node reads only asynchronously; a broken tensor fails again here and is reported.
    return tensor.data().then((read) => ofData(tensor, read));
  }
  return ofData(tensor, data);
}
