import type { MimeBundle } from "../host/host.js";
import { heatStrip } from "./heat-strip.js";
import { escapeHtml } from "./html.js";
import { formatNumber } from "./inspect.js";
import { type Numbers, numericSummary, strideOf } from "./numeric.js";

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
export function nestedText(
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
export function statisticsText(values: Numbers): string {
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
