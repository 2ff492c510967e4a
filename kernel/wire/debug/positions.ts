import { added, names } from "../../contract/added.js";
import { type ColumnMap, sourceOf } from "../../contract/column-map.js";
import { vlqNumbers } from "../../contract/vlq.js";

/** A source map, version 3, as far as positions go. */
interface SourceMapJson {
  version: 3;
  mappings: string;
}

/** Column in the script, line and column in the source, all from 0. */
type Segment = [column: number, line: number, sourceColumn: number];

/** The segments of every line of the script. */
function decodeMappings(mappings: string): Segment[][] {
  let line = 0;
  let sourceColumn = 0;
  return mappings.split(";").map((row) => {
    let column = 0;
    const segments: Segment[] = [];
    for (const text of row.split(",")) {
      const [columns = 0, , lines, sourceColumns = 0] = vlqNumbers(text);
      column += columns;
      if (lines === undefined) continue; // code that comes from nowhere
      line += lines;
      sourceColumn += sourceColumns;
      segments.push([column, line, sourceColumn]);
    }
    return segments;
  });
}

/** A place in a source as a person counts: lines and columns from 1. */
interface Place {
  line: number;
  column: number;
}

/** A place in a script as V8 counts, from 0. */
export interface ScriptPlace {
  lineNumber: number;
  columnNumber: number;
}

/** Between a script and the source it was made of. */
export interface Positions {
  /** Where code stands in its source; undefined where nobody wrote it. */
  toSource(place: ScriptPlace): Place | undefined;
  /** Where the code of a line begins, or that of the next line that has any. */
  toScript(line: number): ScriptPlace | undefined;
}

/** A script that runs as it was written. */
const asWritten: Positions = {
  toSource: ({ lineNumber, columnNumber }) => ({ line: lineNumber + 1, column: columnNumber + 1 }),
  toScript: (line) => ({ lineNumber: line - 1, columnNumber: 0 }),
};

/** What a cell's code is given to publish its variables and to hear of an interrupt. */
const isWritten = (text: string): boolean => {
  const code = text.trimStart();
  return code.startsWith(names.tick) || /^\.(?:define|exports|star)\(/.test(afterCell(code));
};
const afterCell = (code: string): string =>
  code.startsWith(names.cell) ? code.slice(names.cell.length) : "";

/** `script`: the text that runs. `map`: as in `CompiledCell`, or a source map of the file's own. */
export function positionsOf(script: string, map: string | undefined): Positions {
  if (map === undefined) return asWritten;
  const parsed = JSON.parse(map) as ColumnMap | SourceMapJson;
  return "columns" in parsed ? byColumns(parsed, script) : bySourceMap(parsed, script);
}

/** Lines are those of the source, one further down. */
function byColumns(map: ColumnMap, script: string): Positions {
  const lines = script.split("\n");
  // The last line closes the function, the one before returns the value of a cell.
  const returns = lines.lastIndexOf(`return ${names.value};`);
  const last = (returns < 0 ? lines.length - 1 : returns) - 1;
  return {
    toSource({ lineNumber, columnNumber }) {
      if (lineNumber < 1 || lineNumber > last) return undefined;
      const { line, column, run } = sourceOf(map, lineNumber, columnNumber);
      const runs = map.columns[lineNumber] ?? [];
      const [to = 0, , copied = 1] = runs[run] ?? [];
      const inserted = copied ? "" : (lines[lineNumber]?.slice(to, runs[run + 1]?.[0]) ?? "");
      const isAfterDirective = inserted.startsWith(added.tickAfterDirective);
      if (isAfterDirective || isWritten(inserted.replace(/^;/, ""))) return undefined;
      return { line, column: column + 1 };
    },
    toScript: (line) => ({ lineNumber: Math.min(line, last), columnNumber: 0 }),
  };
}

function bySourceMap(map: SourceMapJson, script: string): Positions {
  const lines = script.split("\n");
  const segments = decodeMappings(map.mappings);
  const places = new Map<number, ScriptPlace>();
  for (const [lineNumber, row] of segments.entries()) {
    for (const [columnNumber, line] of row) {
      if (!places.has(line)) places.set(line, { lineNumber, columnNumber });
    }
  }
  const known = [...places.keys()].sort((a, b) => a - b);
  return {
    toSource({ lineNumber, columnNumber }) {
      const script = lines[lineNumber] ?? "";
      if (isWritten(script) || isWritten(script.slice(columnNumber))) return undefined;
      const segment = segments[lineNumber]?.findLast(([column]) => column <= columnNumber);
      return segment && { line: segment[1] + 1, column: segment[2] + 1 };
    },
    toScript(line) {
      const next = known.find((each) => each >= line - 1);
      return next === undefined ? undefined : places.get(next);
    },
  };
}
