import { SourceMap, type SourceMapPayload } from "node:module";

/** Where a place of a file was in the text that it was made from, both counted from 0. */
export function originalPlace(
  map: string,
  line: number,
  column: number,
): { line: number; column: number } | undefined {
  const entry = new SourceMap(JSON.parse(map) as SourceMapPayload).findEntry(line, column);
  if (!("originalLine" in entry)) return undefined;
  return { line: entry.originalLine, column: entry.originalColumn };
}
