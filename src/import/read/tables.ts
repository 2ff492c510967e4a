import { parquetFile } from "../../data/parquet-file.js";
import { plainCell } from "../../data/read-rows.js";
import type { FileRecord } from "../row/fields.js";

/** Rows of a parquet table that are read at once. */
const atOnce = 1000;

/** The columns of a parquet file. */
export async function columnsOf(path: string): Promise<{ columns: string[]; rows: number }> {
  const { parquetMetadataAsync } = await import("hyparquet");
  const metadata = await parquetMetadataAsync(await parquetFile(path));
  return {
    columns: metadata.schema.map(({ name }) => name),
    rows: Number(metadata.num_rows),
  };
}

/** The rows of a parquet table, some at a time. */
export async function* tableRows(
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
