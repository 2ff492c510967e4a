// What a cell says before its code: magics, stages, a question about a name.
import type { CellDiagnostic } from "../../contract/compiler.js";
import type { TypeScript } from "../check/typescript.js";
import { builtins } from "./registry.js";
import { insteadOf } from "./elsewhere.js";
import { expandStage, type Expansion, MappedText } from "./expand.js";
import { type MagicLine, problem, readHead } from "./head.js";
import { nearest } from "../../../common/options/nearest.js";
import type { Stage } from "../../contract/stage.js";

/** A cell as it is to be compiled. */
export interface Reading {
  /** TypeScript, or the body of a cell that is not code. */
  map: MappedText;
  problems: CellDiagnostic[];
  javascript: boolean;
  /** What the cell says about type checks; undefined when it says nothing. */
  checks: boolean | undefined;
  /** The same for the cells that follow. */
  notebookChecks: boolean | undefined;
  /** Errors as the compiler writes them. */
  full: boolean;
  show: boolean;
  time: boolean;
  content: string | undefined;
  /** A stage's line, and the name of what it makes. */
  stage?: { line: MagicLine; makes: Expansion["makes"] };
}

/** `?name`, `name?`, with two question marks for its source too. */
export function readQuestion(source: string): { name: string; detail: 0 | 1 } | undefined {
  const text = source.trim();
  const found =
    /^(\?{1,2})\s*([\p{ID_Start}$_][\p{ID_Continue}$.]*)\s*;?$/u.exec(text) ??
    /^([\p{ID_Start}$_][\p{ID_Continue}$.]*)(\?{1,2})$/u.exec(text);
  if (found === null) return undefined;
  const [, a = "", b = ""] = found;
  return a.startsWith("?")
    ? { name: b, detail: a.length > 1 ? 1 : 0 }
    : { name: a, detail: b.length > 1 ? 1 : 0 };
}

/** Whether a cell begins with a magic line. */
export function hasMagic(source: string): boolean {
  return /^(?:[ \t]*\r?\n)*%%/.test(source);
}

/** Reads a cell. `known` tells whether the session has a name. */
export function readCell(
  ts: TypeScript,
  source: string,
  stages: ReadonlyMap<string, Stage>,
  known: (name: string) => boolean,
): Reading {
  const reading: Reading = {
    map: new MappedText(),
    problems: [],
    javascript: false,
    checks: undefined,
    notebookChecks: undefined,
    full: false,
    show: false,
    time: false,
    content: undefined,
  };
  if (!hasMagic(source)) {
    reading.map.copy(source, 0, source.length);
    return reading;
  }
  const { lines, bodyStart } = readHead(source);
  let stage: { line: MagicLine; stage: Stage } | undefined;
  for (const line of lines) {
    const found = stages.get(line.name);
    if (found !== undefined && stage === undefined) stage = { line, stage: found };
    else if (found !== undefined) {
      const rule = `a cell has one stage, and it is %%${stage!.stage.name}`;
      reading.problems.push(atName(source, line, `Cannot run %%${line.name}: ${rule}`));
    } else readBuiltin(source, line, reading, stages);
  }
  if (stage !== undefined) {
    const expanded = expandStage(ts, source, stage.line, bodyStart, stage.stage, known);
    reading.map = expanded.map;
    reading.problems.push(...expanded.problems);
    reading.stage = { line: stage.line, makes: expanded.makes };
  } else if (reading.content !== undefined) {
    reading.map.copy(source, bodyStart, source.length);
  } else {
    reading.map.add("\n".repeat(source.slice(0, bodyStart).split("\n").length - 1));
    reading.map.copy(source, bodyStart, source.length);
  }
  return reading;
}

function atName(source: string, line: MagicLine, message: string): CellDiagnostic {
  return problem(source, line.start, line.nameEnd - line.start, message);
}

/** Why a stage must not make what it would: a person's own variable has that name. */
export function overwrites(
  source: string,
  { line, makes }: NonNullable<Reading["stage"]>,
): CellDiagnostic {
  const name = makes?.name;
  const rule = `it would replace your own ${name}; name what it makes, as in into=${name}2`;
  return atName(source, line, `Cannot run %%${line.name}: ${rule}`);
}

function readBuiltin(
  source: string,
  line: MagicLine,
  reading: Reading,
  stages: ReadonlyMap<string, Stage>,
): void {
  const builtin = builtins[line.name];
  if (builtin === undefined) {
    const meant = nearest(line.name, [...stages.keys(), ...Object.keys(builtins)]);
    const hint = meant === undefined ? "" : `; did you mean %%${meant}?`;
    const reason = insteadOf(line.name) ?? `there is no such cell${hint}`;
    const message = `Cannot run %%${line.name}: ${reason}`;
    reading.problems.push(atName(source, line, message));
    return;
  }
  const words = source.slice(line.nameEnd, line.end).trim();
  for (const word of words === "" ? [] : words.split(/\s+/)) {
    if (builtin.words?.[word] !== undefined) continue;
    const start = source.indexOf(word, line.nameEnd);
    const known = Object.keys(builtin.words ?? {});
    const rule = known.length === 0 ? "it takes nothing" : `it takes ${known.join(", ")}`;
    const message = `Cannot read ${word}: %%${line.name} does not know it; ${rule}`;
    reading.problems.push(problem(source, start, word.length, message));
  }
  if (builtin.content !== undefined) reading.content = builtin.content;
  switch (line.name) {
    case "check":
    case "nocheck":
      reading.checks = line.name === "check";
      reading.full = /\bfull\b/.test(words);
      if (/\bnotebook\b/.test(words)) reading.notebookChecks = reading.checks;
      break;
    case "js":
      reading.javascript = true;
      break;
    case "show":
      reading.show = true;
      break;
    case "time":
      reading.time = true;
  }
}
