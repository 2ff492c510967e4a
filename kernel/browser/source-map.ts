import type * as node from "../node/source-map.js";
import { vlqNumbers } from "../contract/vlq.js";

export const originalPlace: typeof node.originalPlace = (map, line, column) => {
  const { mappings } = JSON.parse(map) as { mappings: string };
  let [sourceLine, sourceColumn] = [0, 0];
  let found: { line: number; column: number } | undefined;
  for (const [row, segments] of mappings.split(";").entries()) {
    let at = 0;
    for (const segment of segments.split(",").filter(Boolean)) {
      const [step = 0, , lines, columns] = vlqNumbers(segment);
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
