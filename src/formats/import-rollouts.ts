import { joinBytes, utf8Text } from "#platform/bytes";
import { readFile, readPieces } from "#platform/files";
import { dirname, extname, join } from "#platform/path";
import { checkArguments } from "../../common/options/check-arguments.js";
import { checkOptions } from "../../common/options/check-options.js";
import { parquetFile, plainCell } from "../tasks/read-rows.js";
import { ZipArchive } from "../base/files/zip-archive.js";
import { Collection } from "./collect.js";
import type { ImportedRollouts } from "./imported-rollouts.js";
import { collectOptions, importedOf, readRules, type ReadOptions } from "./read-rollouts.js";
import { findFiles, type FoundFile } from "./read/find-files.js";
import type { FileRecord } from "./row/fields.js";

const words = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

/** A line of JSON as Python writes it: NaN and the infinities, for which JSON has no words, become null. */
export function parseLenient(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!/\bNaN\b|\bInfinity\b/.test(text)) throw error;
    const fixed = text.replace(words, (found) => (found.startsWith('"') ? found : "null"));
    return JSON.parse(fixed) as unknown;
  }
}

/** A line of a file, or why it is none. */
interface FileLine {
  line: number;
  /** Absent for a line that is longer than any may be. */
  text?: string;
  /** Bytes of the file up to its end. */
  bytes: number;
}

/** Bytes a line may have: more is no record, and a file without line ends is not read into memory. */
const longestLine = 128 << 20;

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

/** Rows of a parquet table that are read at once. */
const atOnce = 1000;

/** The columns of a parquet file. */
async function columnsOf(path: string): Promise<{ columns: string[]; rows: number }> {
  const { parquetMetadataAsync } = await import("hyparquet");
  const metadata = await parquetMetadataAsync(await parquetFile(path));
  return {
    columns: metadata.schema.map(({ name }) => name),
    rows: Number(metadata.num_rows),
  };
}

/** The rows of a parquet table, some at a time. */
async function* tableRows(
  path: string,
): AsyncGenerator<{ line: number; record: FileRecord; share: number }> {
  const { parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const { compressors } = await import("hyparquet-compressors");
  const file = await parquetFile(path);
  const metadata = await parquetMetadataAsync(file);
  const total = Number(metadata.num_rows);
  for (let from = 0; from < total; from += atOnce) {
    const to = Math.min(total, from + atOnce);
    const rows = await parquetReadObjects({
      ...{ file, metadata, compressors, rowStart: from, rowEnd: to },
    });
    for (const [i, row] of rows.entries()) {
      const line = from + i + 1;
      yield { line, record: plainCell(row) as FileRecord, share: line / total };
    }
  }
}

/** How far reading is. */
export interface ImportProgress {
  file: string;
  /** Bytes read of all files, and those there are. */
  bytes: number;
  of: number;
  rows: number;
}

/** How files are read. */
export interface ImportOptions extends ReadOptions {
  /** Called now and then while reading. */
  onProgress?: (progress: ImportProgress) => void;
  signal?: AbortSignal;
}

/** A text in few letters, for an error. */
const short = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

async function readLog(file: FoundFile, collection: Collection, told: (bytes: number) => void) {
  for await (const { line, text, bytes } of readLines(file.path)) {
    told(bytes);
    if (text === undefined) collection.fail(line, `a line must have at most ${longestLine} bytes`);
    else if (text.trim() !== "") {
      let record: unknown;
      try {
        record = parseLenient(text);
      } catch {
        collection.fail(line, `a line must be JSON, got ${short(text)}`);
        continue;
      }
      collection.add(record, line, text.length, text);
    }
    if (!collection.hopeful) return;
  }
}

/** One JSON value for the whole file: a list of records, or one record. Others are lines after all. */
async function readWhole(file: FoundFile, collection: Collection, told: (bytes: number) => void) {
  if (file.bytes > longestLine) return readLog(file, collection, told);
  let value: unknown;
  try {
    value = parseLenient(await readFile(file.path, "utf8"));
  } catch {
    return readLog(file, collection, told);
  }
  const records: unknown[] = Array.isArray(value) ? value : [value];
  const size = Math.ceil(file.bytes / Math.max(1, records.length));
  for (const [i, record] of records.entries()) {
    collection.add(record, i + 1, size);
    if (!collection.hopeful) return;
  }
  told(file.bytes);
}

async function readTable(file: FoundFile, collection: Collection, told: (bytes: number) => void) {
  const { columns, rows } = await columnsOf(file.path);
  const whole = collection.known.find(({ table }) =>
    table?.columns.every((name) => columns.includes(name)),
  );
  if (whole?.table) {
    const { buffer, byteOffset, byteLength } = await readFile(file.path);
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    for (const tree of await whole.table.read(bytes)) collection.addTree(tree, whole);
    return;
  }
  const size = Math.ceil(file.bytes / Math.max(1, rows));
  for await (const { line, record, share } of tableRows(file.path)) {
    collection.add(record, line, size);
    told(share * file.bytes);
    if (!collection.hopeful) return;
  }
}

/** Bytes that the records of an archive have together, unpacked. */
const largestArchive = 8 * 2 ** 30;

/** A zip archive with a record in each of some files. */
async function readArchive(file: FoundFile, collection: Collection, told: (bytes: number) => void) {
  const kinds = collection.known.flatMap(({ archived }) => archived ?? []);
  const archive = await ZipArchive.open(file.path, { compressed: true });
  try {
    const all = [...archive.entries.values()];
    const entries = all.filter(({ name }) => kinds.some((kind) => kind.test(name)));
    const total = entries.reduce((sum, { size }) => sum + size, 0);
    if (total > largestArchive) {
      throw new RangeError(
        `Cannot import rollouts from ${file.path}: its records must have at most ${largestArchive} bytes, got ${total}`,
      );
    }
    for (const [i, entry] of entries.entries()) {
      const { name, size, start, packed } = entry;
      told(start + packed);
      if (size > longestLine) {
        collection.fail(i + 1, `${name} must have at most ${longestLine} bytes, got ${size}`);
        continue;
      }
      const pieces: Uint8Array[] = [];
      for await (const piece of archive.pieces(entry)) pieces.push(piece);
      const text = utf8Text(joinBytes(pieces));
      let record: unknown;
      try {
        record = parseLenient(text);
      } catch {
        collection.fail(i + 1, `${name} must be JSON, got ${short(text)}`);
        continue;
      }
      collection.add(record, i + 1, text.length);
      if (!collection.hopeful) return;
    }
  } finally {
    await archive.close();
  }
}

/** Files with notes on rollouts come before the others; those beside a file that was named alone, too. */
async function inReadingOrder(named: readonly FoundFile[], { known }: Collection) {
  const folders = known.flatMap(({ notes }) => notes?.folder ?? []);
  const areNotes = ({ path }: FoundFile) =>
    dirname(path)
      .split(/[/\\]/)
      .some((name) => folders.includes(name));
  const files = [...named.filter(areNotes), ...named.filter((file) => !areNotes(file))];
  const [alone] = named;
  if (named.length !== 1 || areNotes(alone!)) return files;
  const beside = folders.map((folder) =>
    findFiles(join(dirname(alone!.path), folder)).catch(() => []),
  );
  return [...(await Promise.all(beside)).flat(), ...files];
}

const isSealed = ({ path }: FoundFile) => path.endsWith(".zst");

function readerOf(path: string) {
  const kind = extname(path).toLowerCase();
  if (kind === ".parquet") return readTable;
  if (kind === ".eval") return readArchive;
  return kind === ".json" ? readWhole : readLog;
}

/** Reads one file into the collection; a table or an archive that is none is a broken one. */
async function readOne(file: FoundFile, collection: Collection, told: (bytes: number) => void) {
  try {
    await readerOf(file.path)(file, collection, told);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (/^Cannot (?:import|read)\b/.test(message)) throw error;
    throw new SyntaxError(
      `Cannot import rollouts from ${file.path}: it must be a readable ${extname(file.path)} file, got ${code ?? message}`,
      { cause: error },
    );
  }
}

/**
 * Reads other people's rollouts: a file, a folder, or a pattern such as `runs/*.jsonl`. verl's dumps,
 * verifiers' and prime-rl's traces, TRL's tables, SkyRL's and Tinker's logs, inspect's, those of agent programs and of
 * messages, and this package's own files; the format is seen from the content. Trajectories of one prompt become a tree by
 * what they begin with in common. `carried` says what the files hold and what they do not.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { importRollouts } from "arpo-lab/experimental/import";
 *
 * const folder = await mkdtemp(join(tmpdir(), "import-"));
 * const rows = ["4", "five"].map((output) => ({ input: "2+2?", output, score: Number(output === "4"), step: 3 }));
 * await writeFile(join(folder, "3.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
 * const imported = await importRollouts(folder);
 * assert.equal(imported.format, "verl");
 * assert.equal(imported.steps[0]["critic/score/mean"], 0.5);
 * assert.match(String(imported), /entropies +not in the file/);
 * await rm(folder, { recursive: true });
 * ```
 */
export async function importRollouts(
  path: string,
  options: ImportOptions = {},
): Promise<ImportedRollouts> {
  checkArguments("import rollouts", { path }, { path: "path" });
  checkOptions("import rollouts", options, {
    ...readRules,
    onProgress: "function?",
    signal: "signal?",
  });
  const { onProgress, signal } = options;
  const collection = new Collection(collectOptions(options));
  const named = await findFiles(path);
  const files = await inReadingOrder(named, collection);
  const of = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  let next = 0;
  for (const [i, file] of files.entries()) {
    collection.open(file.path, files.length - i);
    if (isSealed(file)) {
      collection.fail(1, "a sealed chunk must be unpacked to be read: zstd -d");
      continue;
    }
    await readOne(file, collection, (bytes) => {
      signal?.throwIfAborted();
      if (!onProgress || performance.now() < next) return;
      next = performance.now() + 250;
      onProgress({ file: file.path, bytes: done + bytes, of, rows: collection.rows });
    });
    collection.close();
    done += file.bytes;
    // In a folder there are other files too; a file that was named must be one.
    if (named.length === 1 && file === named[0]) collection.mustBeFound();
  }
  if (collection.formats.size === 0) {
    throw new SyntaxError(
      `Cannot import rollouts from ${path}: one of its ${files.length} files must hold rollouts, got none`,
    );
  }
  return importedOf(collection, options);
}
