// What the threads of the kernel agree on.
//
//   kernel/wire     (its own thread)   Jupyter messages: sockets, signing, ordered sends
//   kernel/compile  (its own thread)   the text of a cell -> JavaScript
//   kernel/run      (the main thread)  evaluates that JavaScript, owns the host
//   kernel/display  (the main thread)  any value -> mime bundle
//
// The compiler never sees a running value and the main thread never sees TypeScript: everything in
// this file that crosses between them is plain data, so `CellCompiler` can sit behind a message port.
import type { MimeBundle } from "../host/host.js";
import type { DebugCode } from "./debug.js";
import type { CellDiagnostic, DiagnoseAnswer, DiagnoseQuestion } from "./diagnose.js";
import type { StaleAnswer, StaleQuestion } from "./stale.js";

export type { CellDiagnostic };

export interface CompileRequest {
  /** Unique in a session, never reused; a cell run twice is two of them. */
  id: string;
  /** The number shown in brackets. */
  count: number;
  source: string;
  /** The name stack frames of this cell carry, for example `cell-3.ts`. */
  filename: string;
  /** Relative imports start here: the kernel's working directory at this moment. */
  folder: string;
  /**
   * `cell`: its declarations are remembered. `expression`: a user_expressions entry, one expression,
   * remembered by nobody.
   */
  kind: "cell" | "expression";
  /** The front end's own name for the cell, where it gives one. */
  cell?: string | undefined;
  /** With it the compiler's thread hands a cell that it has nothing to say of to the main thread, and does not answer. */
  turn?: Turn | undefined;
}

/** Whose turn it is to run. Where the main thread takes it from the shared memory, nobody else can take it back. */
export interface Turn {
  /** What stands at `WORDS.turn` until one of them has taken it; not 0. */
  number: number;
  silent: boolean;
  allowStdin: boolean;
}

/** What a cell did with the session's names. */
export interface MadeNames {
  /** Names the cell has given a value of its own. */
  defined: readonly string[];
  /** Names of other cells that it gave a new value. */
  assigned: readonly string[];
}

export type CompiledCell =
  | {
      ok: true;
      /**
       * One JavaScript expression, evaluated as a classic script, whose value is a function
       * `(cell) => Promise<{ value: unknown } | undefined>`. `cell` is the `CellScope` below. The
       * result is boxed so that a promise as the last expression is shown and not awaited; undefined
       * when the cell does not end in an expression.
       */
      js: string;
      /** JSON: a source map (version 3) or a `ColumnMap`; undefined when nothing has moved. */
      map?: string;
      /** Warnings and, where the cell asked to run anyway, its type errors. */
      diagnostics: CellDiagnostic[];
    }
  /** At least one diagnostic is an error: nothing may run. */
  | { ok: false; diagnostics: CellDiagnostic[] }
  /** `?name`, `name?`: shown in the front end's pager; nothing runs. */
  | { ok: true; pager: MimeBundle };

export interface Completion {
  /** Texts that replace [start, end) of the cell. */
  matches: string[];
  start: number;
  end: number;
  /** One per match, as Jupyter's `_jupyter_types_experimental`: kind and a one-line signature. */
  items: { text: string; type: string; signature?: string; documentation?: string }[];
}

export interface Completeness {
  status: "complete" | "incomplete" | "invalid" | "unknown";
  /** Only with `incomplete`. */
  indent?: string;
}

/** What an import specifier turned out to be, seen from the file (or folder) `importer`. */
export type LoadedModule =
  /** Node loads it: a package, a built-in, a file outside of the notebook's own sources. */
  | { kind: "native"; specifier: string }
  /** A local CommonJS file: Node requires it, anew when it has changed. */
  | { kind: "commonjs"; path: string; version: string }
  /**
   * A local TypeScript or JavaScript file. `version` changes when it or anything it imports does, and
   * a module is evaluated once per version. `js` is like that of a cell, but its function takes a
   * `ModuleScope` of kernel/run/scope/modules.ts.
   */
  | { kind: "local"; path: string; version: string; js: string; map?: string }
  | { kind: "error"; message: string; diagnostics: (CellDiagnostic & { file: string })[] };

/** From the text of a cell to JavaScript. Calls never overlap: the host sends one at a time. */
export interface CellCompiler {
  compile(request: CompileRequest): Promise<CompiledCell> | CompiledCell;
  /**
   * How a compiled cell ended. `made` is what `CellScope.made(id)` says then: a cell that stops
   * half-way keeps what it had initialised, and the earlier `x` where its own `x` never came to be.
   * Undefined: nothing of it ran.
   */
  settled(id: string, outcome: "ok" | "error" | "interrupted", made: MadeNames | undefined): void;
  /** Which cells of a notebook are stale, and in which order they are to run. */
  stale(question: StaleQuestion): Promise<StaleAnswer>;
  /** What is wrong with a text that is being written. Runs nothing and remembers nothing of it. */
  diagnose(question: DiagnoseQuestion, folder: string): Promise<DiagnoseAnswer>;
  /** Where an import leads; asked by `CellScope` while a cell runs. */
  load(specifier: string, importer: string): Promise<LoadedModule> | LoadedModule;
  complete(source: string, position: number, folder: string): Promise<Completion> | Completion;
  /** undefined when there is nothing to say about the position. `detail` 1 adds documentation. */
  inspect(
    source: string,
    position: number,
    detail: 0 | 1,
    folder: string,
  ): Promise<MimeBundle | undefined> | MimeBundle | undefined;
  isComplete(source: string): Completeness;
  /** What a person typed into the debugger, as JavaScript that means the same in the file `path`. */
  debugCode?(text: string, path: string | undefined): DebugCode;
  /** Idle work such as loading the standard library's types; called once, after the first reply. */
  warm?(): void;
}

export interface CompilerOptions {
  language: "typescript" | "javascript";
  folder: string;
}

/**
 * What compiled cells are given: made once a session, on the main thread. Beyond these the
 * compiler and `SessionScope` of kernel/run/scope agree between themselves (`require`, magics).
 */
export interface CellScope {
  /** The session's variables, by name: what a later cell reads. */
  variables: Record<string, unknown>;
  /** Runtime `import`, resolved from the folder of the notebook; dynamic `import()` comes here too. */
  import(specifier: string, attributes?: Record<string, string>): Promise<unknown>;
  /**
   * Compiled into every loop body and function entry: throws `InterruptError` when the cell has been
   * interrupted. One load from shared memory: `host.interruptFlag[0] !== 0`.
   */
  tick(): void;
  /** Makes a variable of the session, or puts another in its place. */
  declare(name: string, value: unknown): void;
  /** Names that the cell has given a value; asking ends the account. */
  made(id: string): MadeNames;
  /** Source maps of the local modules evaluated so far, by the file name their stack frames carry. */
  readonly maps: ReadonlyMap<string, string>;
}
