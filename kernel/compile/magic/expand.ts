import { nearest } from "../../../common/options/nearest.js";
import type { CellDiagnostic } from "../../contract/compiler.js";
import { choices, isText, type Stage } from "../../contract/stage.js";
import type { api, TypeScript } from "../check/typescript.js";
import { type MagicLine, problem } from "./head.js";
import { readOptions, type WrittenOption } from "./options.js";

/** Text put together from pieces of a cell and pieces of our own, which knows which is which. */
export class MappedText {
  text = "";
  readonly #pieces: { at: number; from: number; length: number }[] = [];

  /** Adds text that is nowhere in the cell. */
  add(text: string): this {
    this.text += text;
    return this;
  }

  /** Adds [from, to) of the cell. */
  copy(source: string, from: number, to: number): this {
    this.#pieces.push({ at: this.text.length, from, length: to - from });
    this.text += source.slice(from, to);
    return this;
  }

  /** Where a position of the text is in the cell: of made text, the nearest piece before it. */
  toSource(position: number): number {
    let nearest: number | undefined;
    for (const { at, from, length } of this.#pieces) {
      if (position >= at && position <= at + length) return from + position - at;
      if (at + length < position) nearest = from + length;
    }
    return nearest ?? this.#pieces[0]?.from ?? 0;
  }

  /** Where a position of the cell is in the text; undefined where it was not copied. */
  toText(position: number): number | undefined {
    for (const { at, from, length } of this.#pieces) {
      if (position >= from && position <= from + length) return at + position - from;
    }
    return undefined;
  }
}

export interface Expansion {
  map: MappedText;
  problems: CellDiagnostic[];
  /** The name of what it makes, and whether the cell says it. */
  makes: { name: string; said: boolean } | undefined;
}

/** A stage cell as the TypeScript it stands for. Line n of that is line n of the cell. */
export function expandStage(
  ts: TypeScript,
  source: string,
  line: MagicLine,
  bodyStart: number,
  stage: Stage,
  known: (name: string) => boolean,
): Expansion {
  const problems: CellDiagnostic[] = [];
  const fail = (start: number, length: number, message: string): void => {
    problems.push(problem(source, start, length, message));
  };
  const written = readOptions(source, line.nameEnd, line.end);
  const into = intoOf(stage, written, fail);
  const body = splitBody(ts, source, bodyStart);
  const needsBody = stage.template.includes("{body}");
  if (needsBody && body.from === body.to && stage.body === undefined) {
    fail(line.start, line.end - line.start, `Cannot run %%${stage.name}: it needs a body`);
  } else if (needsBody && !body.isExpression && body.from !== body.to) {
    const rule = "its body must end in an expression";
    fail(body.from, body.to - body.from, `Cannot run %%${stage.name}: ${rule}`);
  }

  const map = new MappedText();
  const leadingEnd = needsBody ? body.from : body.to;
  map.add(importsOf(stage, source.slice(bodyStart, leadingEnd), known));
  map.add("\n".repeat(source.slice(0, bodyStart).split("\n").length - 1));
  map.copy(source, bodyStart, leadingEnd);
  if (!needsBody && leadingEnd > bodyStart) map.add("; ");
  for (const part of stage.template.split(/(\{(?:body|options|into)\})/)) {
    if (part === "{into}") map.add(into);
    else if (part === "{options}") addOptions(source, stage, written, map, fail);
    else if (part !== "{body}") map.add(part);
    else if (body.from === body.to) map.add(`(${stage.body ?? "undefined"})`);
    else {
      map.add("(").copy(source, body.from, body.to);
      const lastLine = source.slice(body.from, body.to).split("\n").at(-1) ?? "";
      map.add(lastLine.includes("//") ? "\n)" : ")");
    }
  }
  if (!stage.template.includes("{options}")) {
    addOptions(source, stage, written, new MappedText(), fail);
  }
  const said = written.some(({ key }) => key === "into");
  return { map, problems, makes: stage.into === undefined ? undefined : { name: into, said } };
}

type Fail = (start: number, length: number, message: string) => void;

/** `into=name`, which every stage that makes something has. */
function intoOf(stage: Stage, written: readonly WrittenOption[], fail: Fail): string {
  const given = written.find(({ key }) => key === "into");
  if (given === undefined || stage.into === undefined) return stage.into ?? "";
  const name = given.value ?? "";
  if (/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return name;
  const length = given.valueEnd - given.keyStart;
  fail(given.keyStart, length, `Cannot read into: it must be a name, got ${name || "nothing"}`);
  return stage.into;
}

/** The object literal of the options given, in front what is spread. */
function addOptions(
  source: string,
  stage: Stage,
  written: readonly WrittenOption[],
  map: MappedText,
  fail: Fail,
): void {
  const given = written.filter(({ key }) => !(key === "into" && stage.into !== undefined));
  const seen = new Set<string>();
  for (const { key, keyStart, value } of given) {
    if (stage.options[key] === undefined) {
      const known = Object.keys(stage.options);
      const meant = nearest(key, known);
      const near = meant === undefined ? `it has ${known.join(", ")}` : `did you mean ${meant}?`;
      const named = value === undefined && stage.into !== undefined;
      const hint = named ? `${near}; into=${key} names what the cell makes` : near;
      fail(keyStart, key.length, `Cannot read option ${key}: %%${stage.name} has none; ${hint}`);
    } else if (seen.has(key)) {
      fail(keyStart, key.length, `Cannot read option ${key}: it is given twice`);
    }
    seen.add(key);
  }
  const spread = (key: string): boolean => stage.options[key]?.as?.startsWith("...") === true;
  const parts = [
    ...Object.keys(stage.options)
      .filter((key) => !seen.has(key) && stage.options[key]?.default !== undefined)
      .map((key): [string, WrittenOption | undefined] => [key, undefined]),
    ...given
      .filter(({ key }) => stage.options[key] !== undefined)
      .map((option): [string, WrittenOption] => [option.key, option]),
  ].sort(([a], [b]) => Number(spread(b)) - Number(spread(a)));
  map.add(parts.length === 0 ? "{" : "{ ");
  parts.forEach(([key, option], i) => {
    if (i > 0) map.add(", ");
    addOption(source, stage, key, option, map, fail);
  });
  map.add(parts.length === 0 ? "}" : " }");
}

function addOption(
  source: string,
  stage: Stage,
  key: string,
  given: WrittenOption | undefined,
  map: MappedText,
  fail: Fail,
): void {
  const option = stage.options[key]!;
  const write = (value: () => void): void => {
    if (option.as !== undefined) {
      const [before = "", after = ""] = option.as.split("{value}");
      map.add(before);
      value();
      map.add(after);
      return;
    }
    // TypeScript reports a wrong value at the property's name, so that is the person's own too.
    const isName = /^[A-Za-z_$][\w$]*$/.test(key);
    if (given === undefined || !isName) map.add(isName ? key : JSON.stringify(key));
    else map.copy(source, given.keyStart, given.keyStart + key.length);
    map.add(": ");
    value();
  };
  let value = given === undefined ? option.default : given.value;
  if (value === undefined && option.type === "boolean") value = "true";
  if (value === undefined || value === "") {
    if (given !== undefined) {
      const length = Math.max(given.valueEnd - given.keyStart, 1);
      fail(given.keyStart, length, `Cannot read option ${key}: it needs a value (${option.type})`);
    }
    value = "undefined";
  } else if (isText(option)) {
    value = /^(["'`])(.*)\1$/s.exec(value)?.[2] ?? value;
    const allowed = choices(option);
    if (given !== undefined && allowed !== undefined && !allowed.includes(value)) {
      const meant = nearest(value, allowed);
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      const rule = `it must be one of ${allowed.join(", ")}, got ${value}${hint}`;
      const length = given.valueEnd - given.valueStart;
      fail(given.valueStart, length, `Cannot read option ${key}: ${rule}`);
    }
    if (option.as?.includes(".{value}") !== true) value = JSON.stringify(value);
  } else if (given?.value !== undefined) {
    write(() => map.copy(source, given.valueStart, given.valueEnd));
    return;
  }
  const made = value;
  write(() => map.add(made));
}

interface Body {
  from: number;
  to: number;
  isExpression: boolean;
}

/** The last statement of a cell's body, which is what the stage is about. */
function splitBody(ts: TypeScript, source: string, bodyStart: number): Body {
  const text = source.slice(bodyStart);
  const file: api.SourceFile = ts.createSourceFile("body.ts", text, ts.ScriptTarget.ES2022, true);
  const last = file.statements.findLast((statement) => !ts.isEmptyStatement(statement));
  if (last === undefined) return { from: source.length, to: source.length, isExpression: false };
  // An object literal at the start of a statement reads as a block.
  const start = last.getStart(file);
  const literal = file.statements[0] === last && ts.isBlock(last);
  const node = ts.isExpressionStatement(last) ? last.expression : last;
  return {
    from: bodyStart + start,
    to: bodyStart + node.end,
    isExpression: literal || ts.isExpressionStatement(last),
  };
}

/** Imports of what the template names, unless the session or the cell has it. */
function importsOf(stage: Stage, leading: string, known: (name: string) => boolean): string {
  const missing = Object.entries(stage.uses ?? {}).filter(([name]) => {
    const bare = name.replace(/^type /, "");
    return !known(bare) && !new RegExp(`\\b${bare.replace(/\$/g, "\\$")}\\b`).test(leading);
  });
  const modules = new Map<string, string[]>();
  for (const [name, from] of missing) modules.set(from, [...(modules.get(from) ?? []), name]);
  return [...modules]
    .map(([from, names]) => `import { ${names.join(", ")} } from ${JSON.stringify(from)}; `)
    .join("");
}
