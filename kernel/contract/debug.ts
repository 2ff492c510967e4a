// What the protocol's thread asks of values on the thread that runs cells, through the inspector: so it is
// answered in the middle of a loop and while a cell stands at a breakpoint.

/** The symbol, by its name, under which the thread that runs cells keeps what answers. */
export const DEBUG_TARGET = "arpo-lab.kernel.debug";

/** The text of a script's source as a person wrote it, and how to come from one to the other. */
export interface DebugSource {
  source?: string | undefined;
  /** As in `CompiledCell`. */
  map?: string | undefined;
}

/** A value in a line, and how many more are in it. */
export interface DescribedValue {
  name: string;
  group: string;
  type: string;
  value: string;
  named: number;
  indexed: number;
  /** How it is written, after the text that its owner is written by. */
  access?: string;
  /** Nobody has asked for it yet: opening it does. */
  lazy?: boolean;
}

/** When a breakpoint that V8 has come to is one to stop at. */
export interface BreakpointRule {
  /** Its number; counts belong to it. */
  id: number;
  /** Names of the session that its expressions may mean. */
  names: string[];
  hits?: { sign: "==" | ">=" | ">" | "<" | "<=" | "%"; count: number };
}

/** What a person typed, as JavaScript. */
export type DebugCode =
  { ok: true; js: string; isExpression: boolean; names: string[] } | { ok: false; message: string };
