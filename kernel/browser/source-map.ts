import type * as node from "../node/source-map.js";

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The numbers of a segment: six bits a digit, the highest of them says that more follow. */
function numbers(segment: string): number[] {
  const found: number[] = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = digits.indexOf(letter);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    found.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return found;
}

export const originalPlace: typeof node.originalPlace = (map, line, column) => {
  const { mappings } = JSON.parse(map) as { mappings: string };
  let [sourceLine, sourceColumn] = [0, 0];
  let found: { line: number; column: number } | undefined;
  for (const [row, segments] of mappings.split(";").entries()) {
    let at = 0;
    for (const segment of segments.split(",").filter(Boolean)) {
      const [step = 0, , lines, columns] = numbers(segment);
      at += step;
      if (lines === undefined || columns === undefined) continue;
      sourceLine += lines;
      sourceColumn += columns;
      if (row > line || (row === line && at > column)) return found;
      found = { line: sourceLine, column: sourceColumn };
    }
  }
  return found;
};
