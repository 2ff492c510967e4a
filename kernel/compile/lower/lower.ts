// From a bound source file to the body of a JavaScript function.
//
// Variables of the cell itself stay native locals, so its loops run at full speed; each is published
// through a getter and a setter (`define`) when it is initialised. Names of earlier cells become
// `__ref_x.v`. Imports become `await __lab.import(…)` and their names `__m0.x`, which keeps them live.
import { Edits } from "./edits.js";
import { ImportTable } from "./imports.js";
import { exportTable } from "./exports.js";
import type { Lowering } from "./lowering.js";
import type { SessionNames } from "./scope.js";
import { splice } from "./splice.js";
import { transpile } from "./transpile.js";
import type { BoundFile } from "../check/typescript.js";
import type { World } from "../check/world.js";

export interface Lowered {
  js: string;
  /** As in `CompiledCell`. */
  map: string;
}

export interface LowerOptions {
  world: World;
  file: BoundFile;
  /** The path that the source map names. */
  source: string;
  /** With names: a cell, whose last expression is its value. Without: a module with exports. */
  names?: SessionNames;
  /** Names nobody declared are looked up when the cell runs, as in plain JavaScript. */
  late: boolean;
  /** JavaScript that makes `__lab` from the argument `__scope`. */
  enter: string;
  /** Tell how long it took. */
  time?: boolean;
}

/** Compiles a file that has passed its checks (or need not). */
export function lower(options: LowerOptions): Lowered {
  const { world, names, file } = options;
  const state: Lowering = {
    ts: world.ts,
    checker: world.checker,
    file,
    names,
    late: options.late,
    imports: new ImportTable(world, file),
    edits: new Edits(file.text),
    refs: new Set(),
    hoisted: [],
    erases: world.keepsText,
    isTypeScript: !world.keepsText,
  };
  const exports = names === undefined ? exportTable(state) : undefined;
  splice(state);
  const changed = state.edits.apply();
  const { text, map } = state.isTypeScript
    ? transpile(world, changed.text, changed.columns, file, options.source)
    : { text: changed.text, map: JSON.stringify({ columns: changed.columns }) };
  const header = [
    `"use strict"; const __lab = ${options.enter}; const __tick = __lab.tick;`,
    ...[...state.refs].map((name) => `const __ref_${name} = __lab.ref(${JSON.stringify(name)});`),
    names === undefined ? undefined : "let __value;",
    options.time === true ? "const __start = performance.now(); try {" : undefined,
    exports,
    ...state.hoisted,
  ].filter((part) => part !== undefined);
  const timed =
    options.time === true ? "} finally { __lab.took(performance.now() - __start); }\n" : "";
  const footer = timed + (names === undefined ? "" : "return __value;\n");
  return { js: `(async (__scope) => { ${header.join(" ")}\n${text}\n${footer}})`, map };
}
