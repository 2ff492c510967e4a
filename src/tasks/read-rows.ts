import { open, readFile, stat } from "#platform/files";
import { extname } from "#platform/path";
import { homePath } from "../base/files/home-path.js";
import type { AsyncBuffer } from "hyparquet";

/** A parquet file to read from, piece by piece, in Node and in a tab. */
export async function parquetFile(path: string): Promise<AsyncBuffer> {
  const { size } = await stat(path);
  return {
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - start));
      const file = await open(path, "r");
      try {
        let at = 0;
        while (at < bytes.length) {
          const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
          if (bytesRead === 0) break; // the file became shorter meanwhile
          at += bytesRead;
        }
        return at === bytes.length ? bytes.buffer : bytes.buffer.slice(0, at);
      } finally {
        await file.close();
      }
    },
  };
}

export type DataRow = Record<string, unknown>;

/** Parquet's 64-bit integers arrive as BigInt, and JSON has none. */
export function plainCell(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (Array.isArray(value)) return value.map(plainCell);
  if (value !== null && typeof value === "object" && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plainCell(v)]));
  }
  return value ?? null;
}

async function readParquet(path: string): Promise<DataRow[]> {
  const { parquetReadObjects } = await import("hyparquet");
  const { compressors } = await import("hyparquet-compressors");
  const rows = await parquetReadObjects({ file: await parquetFile(path), compressors });
  return rows.map((row) => plainCell(row) as DataRow);
}

function parseJsonl(text: string, path: string): DataRow[] {
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line) as DataRow];
    } catch (error) {
      throw new SyntaxError(
        `Cannot read ${path}: line ${i + 1} must be a JSON value, got ${line.slice(0, 60)} (${(error as Error).message})`,
      );
    }
  });
}

/** The records of a CSV text: quoted fields may hold commas, quotes (doubled) and line ends. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = "";
  let quoted = false;
  const endField = () => {
    record.push(field);
    field = "";
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (c === '"' && field === "") quoted = true;
    else if (c === ",") endField();
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[i + 1] === "\n") i++;
      endField();
      records.push(record);
      record = [];
    } else field += c;
  }
  if (quoted) throw new SyntaxError("Cannot read CSV: every quote must be closed, got the end");
  if (field !== "" || record.length > 0) {
    endField();
    records.push(record);
  }
  return records.filter((r) => r.length > 1 || r[0] !== "");
}

function rowsOfCsv(text: string, path: string): DataRow[] {
  const [header, ...records] = parseCsv(text.replace(/^\uFEFF/, ""));
  return records.map((record, i) => {
    if (record.length !== header!.length) {
      throw new SyntaxError(
        `Cannot read ${path}: record ${i + 1} must have ${header!.length} fields, got ${record.length}`,
      );
    }
    return Object.fromEntries(header!.map((name, j) => [name, record[j]]));
  });
}

/**
 * Reads the rows of a parquet, JSONL, JSON (an array) or CSV file; nested parquet columns become plain
 * objects.
 */
export async function readRows(given: string): Promise<DataRow[]> {
  const path = homePath(given);
  const kind = extname(path).toLowerCase();
  if (![".parquet", ".jsonl", ".json", ".csv"].includes(kind)) {
    throw new RangeError(
      `Cannot read ${path}: the name must end in .parquet, .jsonl, .json or .csv, got ${kind || "none"}`,
    );
  }
  try {
    if (kind === ".parquet") return await readParquet(path);
    const text = await readFile(path, "utf8");
    if (kind === ".csv") return rowsOfCsv(text, path);
    if (kind === ".jsonl") return parseJsonl(text, path);
    const rows = JSON.parse(text) as unknown;
    if (Array.isArray(rows)) return rows as DataRow[];
    throw new TypeError(`Cannot read ${path}: it must hold an array of rows`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (message.startsWith("Cannot read")) throw error;
    // The system's own error would name the file once more.
    if (code === "ENOENT") throw new Error(`Cannot read ${path}: there must be a file, got none`);
    throw new Error(
      `Cannot read ${path}: it must be a readable ${kind} file (${code ?? message})`,
      {
        cause: error,
      },
    );
  }
}
