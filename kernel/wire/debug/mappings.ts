/** A source map, version 3, as far as positions go. */
export interface SourceMapJson {
  version: 3;
  mappings: string;
}

/** Column in the script, line and column in the source, all from 0. */
export type Segment = [column: number, line: number, sourceColumn: number];

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The numbers of a segment: base 64, five bits a digit, the sign in the lowest bit. */
function numbers(text: string): number[] {
  const found: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of text) {
    const bits = digits.indexOf(digit);
    value |= (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    found.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = shift = 0;
  }
  return found;
}

/** The segments of every line of the script. */
export function decodeMappings(mappings: string): Segment[][] {
  let line = 0;
  let sourceColumn = 0;
  return mappings.split(";").map((row) => {
    let column = 0;
    const segments: Segment[] = [];
    for (const text of row.split(",")) {
      const [columns = 0, , lines, sourceColumns = 0] = numbers(text);
      column += columns;
      if (lines === undefined) continue; // code that comes from nowhere
      line += lines;
      sourceColumn += sourceColumns;
      segments.push([column, line, sourceColumn]);
    }
    return segments;
  });
}
