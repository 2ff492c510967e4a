// Runs in Node's loader thread (`node:module` register): how modules that a configuration names are found
// and read. TypeScript is turned into JavaScript, and "arpo-lab" is this package where the module's own
// folder has none.
import { readFile } from "#platform/files";
import { createRequire, type LoadHook, type ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import type * as api from "typescript";

let loaded: typeof api | undefined;

/** Loaded when the first TypeScript module is: it takes a while. */
function typescript(): typeof api {
  loaded ??= createRequire(import.meta.url)("#typescript") as typeof api;
  return loaded;
}

function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "ERR_MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (/^arpo-lab(\/|$)/.test(specifier)) {
      return next(specifier, { ...context, parentURL: import.meta.url });
    }
    // As TypeScript is usually written: `./other.js` for the file that is other.ts.
    const source = specifier.replace(/\.(m?)js$/, ".$1ts");
    if (source === specifier || !/\.m?ts$/.test(context.parentURL ?? "")) throw error;
    return next(source, context);
  }
};

/** JavaScript from TypeScript: types are left out, not checked. */
function javaScriptOf(source: string, path: string): string {
  const ts = typescript();
  const { outputText, diagnostics = [] } = ts.transpileModule(source, {
    fileName: path,
    reportDiagnostics: true,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      inlineSourceMap: true,
    },
  });
  const [first] = diagnostics;
  if (first) {
    const line = source.slice(0, first.start).split("\n").length;
    const message = ts.flattenDiagnosticMessageText(first.messageText, "\n");
    throw new SyntaxError(`Cannot read TypeScript: ${path}:${line} has an error, got ${message}`);
  }
  return outputText;
}

export const load: LoadHook = async (url, context, next) => {
  if (!url.startsWith("file:") || !/\.m?ts$/.test(new URL(url).pathname)) return next(url, context);
  const path = fileURLToPath(url);
  const source = javaScriptOf(await readFile(path, "utf8"), path);
  return { format: "module", source, shortCircuit: true };
};
