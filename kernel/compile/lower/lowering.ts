import type { Edits } from "./edits.js";
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
  edits: Edits;
  /** What names of others are called, and the JavaScript that looks each of them up. */
  outside: Map<string, string>;
  /** Names of the session that the code reads; those that it only assigns are not among them. */
  read: Set<string>;
  /** JavaScript that runs before the first statement. */
  hoisted: string[];
  /** Whether types are taken out of the text here. */
  erases: boolean;
  /** Whether the changed text is more than JavaScript, so that TypeScript has the rest to do. */
  isTypeScript: boolean;
}

/** Free names that Node gives to a CommonJS module, and so to a cell; and `Deno.jupyter`. */
export const cellGlobals: ReadonlySet<string> = new Set([
  ...["require", "__dirname", "__filename"],
  "Deno",
]);
