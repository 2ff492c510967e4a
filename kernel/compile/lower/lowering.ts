import type { ImportTable } from "./imports.js";
import type { SessionNames } from "./scope.js";
import type { api, InnerChecker, TypeScript } from "../check/typescript.js";

/** What the parts of lowering share while one file is compiled. */
export interface Lowering {
  ts: TypeScript;
  checker: InnerChecker;
  file: api.SourceFile;
  names: SessionNames | undefined;
  late: boolean;
  imports: ImportTable;
  /** Names of earlier cells that the file uses. */
  refs: Set<string>;
  /** JavaScript that runs before the first statement. */
  hoisted: string[];
}

/** Free names that Node gives to a CommonJS module, and so to a cell; and `Deno.jupyter`. */
export const cellGlobals: ReadonlySet<string> = new Set([
  ...["require", "__dirname", "__filename"],
  "Deno",
]);

/** A statement printed as it stands. Later transformers see an identifier and leave it alone. */
export function rawStatement(state: Lowering, text: string, from?: api.Node): api.Statement {
  const { factory, setSourceMapRange, setEmitFlags, EmitFlags } = state.ts;
  const statement = factory.createExpressionStatement(factory.createIdentifier(text));
  if (from === undefined) return statement;
  setEmitFlags(statement, EmitFlags.NoComments);
  return setSourceMapRange(statement, { pos: from.getStart(state.file), end: from.end });
}

export function tickStatement(state: Lowering): api.Statement {
  return rawStatement(state, "__tick()");
}
