import {
  checkOptions,
  either,
  integer,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { defined } from "../../../common/options/defined.js";
import { DataFrame, type BaseDataOptionType, Papa, Series } from "#danfojs";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { readFile, writeFileSync } from "#platform/files";

/** How a table is read. */
export interface ReadCsvOptions {
  /** The first row holds the columns' names (default). */
  header?: boolean;
  /** Numbers and booleans become such (default). */
  dynamicTyping?: boolean;
  /** What stands between two values. Default `,`. */
  delimiter?: string;
  /** What values are quoted with. Default `"`. */
  quoteChar?: string;
  /** What stands before a quote inside a quoted value. Default: `quoteChar`. */
  escapeChar?: string;
  /** What a line that is skipped begins with, as `#`; none by default. */
  comments?: string;
  /** Reads so many rows and no more; 0, the default, reads all. */
  preview?: number;
  /** Whether empty lines are skipped; `greedy`, the default, skips lines of white space too. */
  skipEmptyLines?: boolean | "greedy";
  /** Another name for each column. Default: as it is. */
  transformHeader?: (name: string, index: number) => string;
  /** Another text for each value, before numbers are read. Default: as it is. */
  transform?: (value: string, column: string | number) => unknown;
  /** What the frame is made with: `columns`, `index`, `dtypes`. Default: as read from the file. */
  frameConfig?: BaseDataOptionType;
}

export interface ReadJsonOptions {
  /** What the frame is made with: `columns`, `index`, `dtypes`. */
  frameConfig?: BaseDataOptionType;
}

export interface WriteCsvOptions {
  /** Where to write. Default: nowhere, the text is given back. */
  filePath?: string;
  /** What separates values. Default: a comma. */
  sep?: string;
  /** Write the names of the columns first. Default: true. */
  header?: boolean;
}

export interface WriteJsonOptions {
  /** Where to write. Default: nowhere, the text is given back. */
  filePath?: string;
  /** `column`, the default: a list of objects. `row`: an object of lists. (danfojs's own words.) */
  format?: "column" | "row";
}

const readCsvRules: OptionRules<ReadCsvOptions> = {
  header: "boolean?",
  dynamicTyping: "boolean?",
  delimiter: "text?",
  quoteChar: "text?",
  escapeChar: "text?",
  comments: "text?",
  preview: integer(0),
  skipEmptyLines: either(oneOf(["greedy"]), "boolean"),
  transformHeader: "function?",
  transform: "function?",
  frameConfig: "object?",
};

const csvRules: OptionRules<WriteCsvOptions> = {
  filePath: "text?",
  sep: "text?",
  header: "boolean?",
};

/** The text behind a path, or an address on the web. */
async function textOf(file: string | URL): Promise<string> {
  if (!/^https?:/.test(String(file))) return readFile(String(file), "utf8");
  const answer = await fetch(file);
  if (!answer.ok) {
    throw new Error(
      `Cannot read a frame: ${String(file)} must answer, got status ${answer.status}`,
    );
  }
  return answer.text();
}

/**
 * A table in a file or on the web as a frame.
 *
 * @param file a path or an address
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { readCSV } from "arpo-lab/view";
 *
 * const file = join(mkdtempSync(join(tmpdir(), "frame-")), "runs.csv");
 * writeFileSync(file, 'name,reward\n"arpo, n 16",0.5\n');
 * const frame = await readCSV(file);
 * assert.deepEqual(frame.values, [["arpo, n 16", 0.5]]);
 * ```
 */
export async function readCSV(
  file: string | URL,
  options: ReadCsvOptions = {},
): Promise<DataFrame> {
  checkOptions("read a frame", options, readCsvRules);
  const { frameConfig, ...parsing } = options;
  const usual = { header: true, dynamicTyping: true, skipEmptyLines: "greedy", delimiter: "," };
  const text = (await textOf(file)).replace(/^\ufeff/, "");
  const { data, errors } = Papa.parse(text, { ...usual, ...defined(parsing) });
  const [wrong] = errors;
  if (wrong !== undefined) {
    const where = wrong.row === undefined ? "" : ` in row ${wrong.row}`;
    throw new SyntaxError(
      `Cannot read a frame: ${String(file)} must be CSV, got ${wrong.message}${where}`,
    );
  }
  if (data.length === 0) {
    throw new RangeError(
      `Cannot read a frame: ${String(file)} must hold a row of values, got none`,
    );
  }
  return new DataFrame(data, frameConfig);
}

/** A list of objects, or an object of lists, in a JSON file or on the web as a frame. */
export async function readJSON(
  file: string | URL,
  options: ReadJsonOptions = {},
): Promise<DataFrame> {
  checkOptions("read a frame", options, { frameConfig: "object?" });
  return new DataFrame(JSON.parse(await textOf(file)), options.frameConfig);
}

/**
 * A frame or series as CSV; texts are quoted where they must be.
 *
 * @param frame the table to write
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { DataFrame, toCSV } from "arpo-lab/view";
 *
 * const frame = new DataFrame([{ text: "one, two", n: 2 }]);
 * assert.equal(toCSV(frame), 'text,n\n"one, two",2\n');
 * ```
 */
export function toCSV(frame: DataFrame | Series, options: WriteCsvOptions = {}): string {
  checkArguments("write CSV", { frame }, { frame: { values: "list" } });
  checkOptions("write CSV", options, csvRules);
  const { filePath, sep = ",", header = true } = options;
  const rows = frame instanceof Series ? frame.values.map((value) => [value]) : frame.values;
  const lines = [...(header ? [frame.columns] : []), ...rows];
  const text = `${Papa.unparse(lines, { delimiter: sep, newline: "\n" })}\n`;
  if (filePath !== undefined) writeFileSync(filePath, text);
  return text;
}

/** A frame or series as plain values. */
export function toJSON(frame: DataFrame | Series, options: WriteJsonOptions = {}): object {
  checkOptions("write a frame", options, { filePath: "text?", format: oneOf(["column", "row"]) });
  const { filePath, format = "column" } = options;
  const rows = (
    frame instanceof Series ? frame.values.map((v) => [v]) : frame.values
  ) as unknown[][];
  const { columns } = frame;
  const json =
    format === "row" || frame instanceof Series
      ? Object.fromEntries(columns.map((name, i) => [name, rows.map((row) => row[i])]))
      : rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
  if (filePath !== undefined) writeFileSync(filePath, JSON.stringify(json));
  return json;
}
