import type { MimeBundle } from "../host/host.js";
import { escapeHtml, lineColor } from "./html.js";
import { inspectShort } from "./inspect.js";

/** Rows and columns to show, with an optional index in front. */
interface Table {
  columns: string[];
  rows: unknown[][];
  index?: unknown[];
  /** Rows there are in all, where `rows` holds only the first. */
  total?: number;
  /** A line under the table. */
  note?: string;
}

const maxRows = 60;
const maxColumns = 50;

function isNumeric(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

/** What fits: the first rows and columns, and a line that says what was left out. */
function fit(table: Table): Required<Omit<Table, "index">> & { index: unknown[] } {
  const total = table.total ?? table.rows.length;
  const rows = table.rows.slice(0, maxRows).map((row) => row.slice(0, maxColumns));
  const notes: string[] = [];
  if (total > rows.length) notes.push(`${total - rows.length} more rows`);
  if (table.columns.length > maxColumns) {
    notes.push(`${table.columns.length - maxColumns} more columns`);
  }
  if (notes.length > 0) notes[0] = `… ${notes[0]}`;
  if (table.note !== undefined) notes.push(table.note);
  return {
    columns: table.columns.slice(0, maxColumns),
    rows,
    index: table.index?.slice(0, maxRows) ?? rows.map((_, i) => i),
    total,
    note: notes.join(", "),
  };
}

function tableText(table: ReturnType<typeof fit>): string {
  const head = ["", ...table.columns];
  const body = table.rows.map((row, i) => [
    inspectShort(table.index[i], 30),
    ...row.map((v) => inspectShort(v, 40)),
  ]);
  const widths = head.map((h, c) =>
    Math.max(h.length, ...body.map((row) => (row[c] ?? "").length)),
  );
  const right = head.map(
    (_, c) => c > 0 && table.rows.every((row) => row[c - 1] == null || isNumeric(row[c - 1])),
  );
  const line = (cells: string[]): string =>
    cells
      .map((cell, c) => (right[c] ? cell.padStart(widths[c]!) : cell.padEnd(widths[c]!)))
      .join("  ")
      .trimEnd();
  const lines = [line(head), ...body.map(line)];
  if (table.note !== "") lines.push(table.note);
  return lines.join("\n");
}

function tableHtml(table: ReturnType<typeof fit>): string {
  const border = `border-bottom:1px solid ${lineColor};padding:2px 8px`;
  const cell = (value: unknown): string => {
    const align = isNumeric(value) ? "right" : "left";
    const full = inspectShort(value, 400);
    const short = inspectShort(value, 120);
    const tip = full === short ? "" : ` title="${escapeHtml(full)}"`;
    return `<td style="text-align:${align};${border}"${tip}>${escapeHtml(short)}</td>`;
  };
  const head = table.columns
    .map((c) => `<th style="text-align:left;${border}">${escapeHtml(c)}</th>`)
    .join("");
  const body = table.rows
    .map((row, i) => {
      const index = escapeHtml(inspectShort(table.index[i], 60));
      return `<tr><th style="text-align:right;opacity:.7;${border}">${index}</th>${row.map(cell).join("")}</tr>`;
    })
    .join("\n");
  const note = table.note === "" ? "" : `<div style="opacity:.7">${escapeHtml(table.note)}</div>`;
  return (
    `<div style="overflow-x:auto" tabindex="0"><table style="border-collapse:collapse">\n` +
    `<thead><tr><td style="${border}"></td>${head}</tr></thead>\n<tbody>\n${body}\n</tbody></table></div>${note}`
  );
}

/** A table as HTML and as aligned text; long ones say how much is missing. */
export function tableBundle(table: Table): MimeBundle {
  const fitted = fit(table);
  return { "text/plain": tableText(fitted), "text/html": tableHtml(fitted) };
}

function isPlainRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The table of an array of records with mostly the same fields; undefined for anything else. */
export function recordsTable(items: readonly unknown[]): Table | undefined {
  if (items.length === 0) return undefined;
  const columns = new Set<string>();
  let filled = 0;
  const seen = items.slice(0, 1000);
  for (const item of seen) {
    if (!isPlainRecord(item)) return undefined;
    const keys = Object.keys(item);
    filled += keys.length;
    for (const key of keys) columns.add(key);
    if (columns.size > 500) return undefined;
  }
  if (columns.size === 0 || filled < 0.4 * columns.size * seen.length) return undefined;
  const names = [...columns];
  const rows = items
    .slice(0, maxRows)
    .map((item) => names.map((name) => (item as Record<string, unknown>)[name] ?? ""));
  return { columns: names, rows, total: items.length };
}

/** What a danfojs DataFrame or Series is recognised by. */
interface FrameLike {
  columns: unknown[];
  index: unknown[];
  values: unknown[];
  dtypes: string[];
  shape: number[];
}

/** True for a danfojs DataFrame or Series of any copy of danfojs. */
export function isDataFrame(value: object): value is FrameLike {
  const f = value as Partial<FrameLike>;
  return [f.columns, f.index, f.values, f.dtypes, f.shape].every(Array.isArray);
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

/** A DataFrame or Series as a table, with its column types underneath. */
export function dataFrameTable(frame: FrameLike): Table {
  const rows = frame.values
    .slice(0, maxRows)
    .map((row) => (Array.isArray(row) ? (row as unknown[]) : [row]));
  const columns = frame.columns.map(String);
  const types = columns.map((c, i) => `${c} ${frame.dtypes[i] ?? "?"}`).slice(0, maxColumns);
  return {
    columns,
    rows,
    index: frame.index.slice(0, maxRows),
    total: frame.values.length,
    note: `${counted(frame.values.length, "row")} × ${counted(columns.length, "column")}: ${types.join(", ")}`,
  };
}

/** What a table of arquero is recognised by. */
interface ArqueroLike {
  columnNames(): string[];
  numRows(): number;
  numCols(): number;
  get(column: string, row: number): unknown;
}

/** True for a table of any copy of arquero. */
export function isArquero(value: object): value is ArqueroLike {
  const t = value as Partial<ArqueroLike>;
  return [t.columnNames, t.numRows, t.numCols, t.get].every(
    (member) => typeof member === "function",
  );
}

/** A table of arquero, filtered and in order as it is. */
export function arqueroTable(table: ArqueroLike): Table {
  const columns = table.columnNames();
  const total = table.numRows();
  const rows = Array.from({ length: Math.min(total, maxRows) }, (_, row) =>
    columns.map((column) => table.get(column, row)),
  );
  const note = `${counted(total, "row")} × ${counted(columns.length, "column")}`;
  return { columns, rows, total, note };
}

/** A Map as a table of its keys and values. */
export function mapTable(map: ReadonlyMap<unknown, unknown>): Table {
  const rows: unknown[][] = [];
  for (const entry of map) {
    rows.push([...entry]);
    if (rows.length === maxRows) break;
  }
  return { columns: ["key", "value"], rows, total: map.size };
}
