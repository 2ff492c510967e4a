import { readFileSync } from "#platform/files";
import { sha256, sha256Of } from "#platform/sha256";
import { names } from "../contract/added.js";
import type { LoadedModule } from "../contract/compiler.js";
import { localErrors } from "./check/diagnostics.js";
import { lower } from "./lower/lower.js";
import type { BoundFile } from "./check/typescript.js";
import { isLocalPath, type World } from "./check/world.js";
import { lineAndColumn } from "./magic/head.js";
import { isRecord } from "../../common/options/is-record.js";

const compiled = new WeakMap<object, { generation: number; js: string; map: string }>();

/** Answers an import of a running cell or module. */
export function loadLocal(world: World, specifier: string, importer: string): LoadedModule {
  world.ensure();
  const found = world.resolve(specifier, importer);
  const path = found?.resolvedFileName;
  if (path?.endsWith(".json")) return loadJson(path);
  if (path === undefined || !isLocalPath(path) || !/\.[cm]?[jt]s$/.test(path)) {
    return { kind: "native", specifier };
  }
  if (found?.isExternalLibraryImport === true && !/\.[cm]?ts$/.test(path)) {
    return { kind: "native", specifier };
  }
  world.include([path], importer);
  const file = world.program.getSourceFile(path) as BoundFile | undefined;
  if (file === undefined) return { kind: "native", specifier };
  const version = versionOf(world, path);
  if (isCommonJs(file)) return { kind: "commonjs", path, version };
  const errors = localErrors(world, path, false);
  if (errors.length > 0) {
    const lines = errors.map((e) => `${e.file}:${e.line}:${e.column} - ${e.message}`);
    return { kind: "error", message: lines.join("\n"), diagnostics: errors };
  }
  let code = compiled.get(file);
  if (code?.generation !== world.generation) {
    const made = lower({ world, file, source: path, late: false, enter: names.scope });
    if (made.error !== undefined) {
      const { line, column } = lineAndColumn(file.text, made.error.start);
      const message = `${path}:${line}:${column} - ${made.error.message}`;
      return { kind: "error", message, diagnostics: [] };
    }
    code = { ...made, generation: world.generation };
    compiled.set(file, code);
  }
  return { kind: "local", path, version, js: code.js, map: code.map };
}

function versionOf(world: World, path: string): string {
  const hash = sha256Of();
  for (const { fileName } of world.localGraph(path)) {
    hash.update(`${fileName}\0${world.stamp(fileName)}\0`);
  }
  return hash.hex();
}

/** A JavaScript file that says `module.exports`, or says nothing about modules. */
function isCommonJs(file: BoundFile): boolean {
  if (/\.c[jt]s$/.test(file.fileName)) return true;
  return file.commonJsModuleIndicator !== undefined && file.imports.length === 0;
}

function loadJson(path: string): LoadedModule {
  const text = readFileSync(path, "utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { kind: "error", message: `${path}: ${reason}`, diagnostics: [] };
  }
  const names = isRecord(value) ? Object.keys(value) : [];
  const table = ["default: () => data"].concat(
    names
      .filter((name) => name !== "default")
      .map((name) => `${JSON.stringify(name)}: () => data[${JSON.stringify(name)}]`),
  );
  const js = `(async (__scope) => { const data = JSON.parse(${JSON.stringify(text)}); __scope.exports({ ${table.join(", ")} }); })`;
  return { kind: "local", path, version: sha256(text), js };
}
