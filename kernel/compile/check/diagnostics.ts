import { relative } from "#platform/path";
import type { CellDiagnostic } from "../../contract/compiler.js";
import { mark } from "../../contract/added.js";
import { messageOf } from "./short-message.js";
import type { api, BoundFile } from "./typescript.js";
import { isLocalPath, type World } from "./world.js";

/** A diagnostic of TypeScript as the contract has it. `offset` is where the file's text starts. */
function toCellDiagnostic(world: World, diagnostic: api.Diagnostic): CellDiagnostic {
  const { ts } = world;
  const { file, start = 0, length = 0 } = diagnostic;
  const at = file?.getLineAndCharacterOfPosition(start) ?? { line: 0, character: 0 };
  return {
    severity: diagnostic.category === ts.DiagnosticCategory.Warning ? "warning" : "error",
    code: diagnostic.code,
    ...messageOf(world, diagnostic),
    start,
    length,
    line: at.line + 1,
    column: at.character + 1,
  };
}

/** Errors of one kind that are told; of the rest, how many there are. */
const MOST = 50;

function toCellDiagnostics(world: World, found: readonly api.Diagnostic[]): CellDiagnostic[] {
  const told = found.slice(0, MOST).map((diagnostic) => toCellDiagnostic(world, diagnostic));
  const next = found[MOST];
  if (next === undefined) return told;
  const message = `and ${found.length - MOST} more errors`;
  return [...told, { ...toCellDiagnostic(world, next), message, code: 0, full: undefined }];
}

/** `a?.#b` is JavaScript, though not yet TypeScript; what the parser makes of it is right. */
const optionalPrivate = 18030;

/** What keeps a cell from being JavaScript at all. */
export function syntaxErrors(world: World, file: BoundFile): CellDiagnostic[] {
  const marked = file.text.indexOf(mark);
  if (marked >= 0) {
    const message = `Cannot compile this: its text must not have ${mark}, which marks what the kernel adds`;
    const { line, character } = file.getLineAndCharacterOfPosition(marked);
    const place = { start: marked, length: mark.length, line: line + 1, column: character + 1 };
    return [{ severity: "error", code: 0, message, ...place }];
  }
  const found = world.program.getSyntacticDiagnostics(file);
  return toCellDiagnostics(
    world,
    found.filter(({ code }) => code !== optionalPrivate),
  );
}

/** Numbers of the errors that say a name is not known. */
export const cannotFindName: ReadonlySet<number> = new Set([
  2304, 2318, 2503, 2552, 2580, 2583, 2584, 2591, 2792, 2867, 2868,
]);

/** `import x = require()` and `export =` in a module: cells have both, tslab's had them too. */
const allowed: ReadonlySet<number> = new Set([1202, 1203]);

/** Type errors of a cell. Names that only Node's types know make those load, once a session. */
export function typeErrors(world: World, file: BoundFile): CellDiagnostic[] {
  const check = (): api.Diagnostic[] => [
    ...file.bindDiagnostics,
    ...world.checker.getDiagnostics(file),
  ];
  let found = check();
  if (!world.hasNodeTypes && found.some(({ code }) => cannotFindName.has(code))) {
    world.loadNodeTypes();
    found = check();
  }
  const told = withoutIgnored(world, file, found).filter(({ code }) => !allowed.has(code));
  return toCellDiagnostics(world, told);
}

/** Applies `@ts-ignore` and `@ts-expect-error`, which a program does and a checker does not. */
function withoutIgnored(world: World, file: BoundFile, found: api.Diagnostic[]): api.Diagnostic[] {
  const directives = file.commentDirectives ?? [];
  if (directives.length === 0) return found;
  const { ts } = world;
  const source = file;
  const lineOf = (position: number): number =>
    ts.getLineAndCharacterOfPosition(source, position).line;
  const lines = new Map(directives.map((each) => [lineOf(each.range.pos), each]));
  const text = file.text.split("\n");
  const used = new Set<number>();
  const kept = found.filter(({ start = 0 }) => {
    for (let line = lineOf(start) - 1; line >= 0; line--) {
      if (lines.has(line)) return !used.add(line);
      const above = text[line]!.trim();
      if (above !== "" && !above.startsWith("//")) return true;
    }
    return true;
  });
  const expected = [...lines].filter(([line, { type }]) => type === 0 && !used.has(line));
  return kept.concat(
    expected.map(([, { range }]) => ({
      file: source,
      start: range.pos,
      length: range.end - range.pos,
      code: 2578,
      category: ts.DiagnosticCategory.Error,
      messageText: "Unused '@ts-expect-error' directive.",
    })),
  );
}

const ofNode: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...["NodeJS", "require", "module", "exports", "__dirname", "__filename"],
]);

/** Loads Node's types if a text that is being written names anything of Node's. */
export function loadTypesNamed(world: World, file: BoundFile): void {
  if (world.hasNodeTypes) return;
  const found = world.checker.getDiagnostics(file);
  const named = found.some(
    ({ code, start = 0, length = 0 }) =>
      cannotFindName.has(code) && ofNode.has(file.text.slice(start, start + length)),
  );
  if (named) world.loadNodeTypes();
}

/** Errors in the local files behind an import, told at the import. */
export function importErrors(
  world: World,
  specifier: api.StringLiteralLike,
  importer: string,
  checkTypes: boolean,
): CellDiagnostic[] {
  const target = world.resolve(specifier.text, importer);
  if (target === undefined || !isLocalPath(target.resolvedFileName)) return [];
  const errors = localErrors(world, target.resolvedFileName, checkTypes);
  const file = specifier.getSourceFile();
  const start = specifier.getStart(file);
  const at = file.getLineAndCharacterOfPosition(start);
  return errors.map(({ file: path, line, column, message, code, severity }) => ({
    severity,
    code,
    message: `${path}:${line}:${column} - ${message}`,
    start,
    length: specifier.end - start,
    line: at.line + 1,
    column: at.character + 1,
  }));
}

type FileDiagnostic = CellDiagnostic & { file: string };

/** Errors of a local file and of what it imports. */
export function localErrors(world: World, path: string, checkTypes: boolean): FileDiagnostic[] {
  const found = errorsOfGraph(world, path, checkTypes);
  if (world.hasNodeTypes || !found.some(({ code }) => cannotFindName.has(code))) return found;
  world.loadNodeTypes();
  return errorsOfGraph(world, path, checkTypes);
}

function errorsOfGraph(world: World, path: string, checkTypes: boolean): FileDiagnostic[] {
  const { program } = world;
  return world.localGraph(path).flatMap((file) => {
    const name = relative(program.getCurrentDirectory(), file.fileName);
    const syntax = syntaxErrors(world, file as BoundFile);
    const found: readonly api.Diagnostic[] = [
      ...(checkTypes && /\.[cm]?ts$/.test(file.fileName)
        ? program.getSemanticDiagnostics(file)
        : []),
    ];
    const told = [...syntax, ...toCellDiagnostics(world, found)];
    return told.map((diagnostic) => ({ ...diagnostic, file: name }));
  });
}
