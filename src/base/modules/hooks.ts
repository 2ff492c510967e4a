// How modules that a configuration or a command names are found and read: TypeScript is turned into
// JavaScript, and "arpo-lab" is this package where the module's own folder has none. Node calls these in its
// own thread (`registerHooks`) or, before 22.15, in its loader thread (`register`).
import { readFileSync } from "node:fs";
import {
  createRequire,
  type LoadHook,
  type LoadHookContext,
  type ResolveFnOutput,
  type ResolveHook,
  type ResolveHookContext,
} from "node:module";
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

/** Where else a module that was not found may be; throws what was thrown where it is nowhere else. */
function elsewhere(
  specifier: string,
  context: ResolveHookContext,
  error: unknown,
): [specifier: string, context: ResolveHookContext] {
  if (!isMissing(error)) throw error;
  if (/^arpo-lab(\/|$)/.test(specifier)) {
    return [specifier, { ...context, parentURL: import.meta.url }];
  }
  // As TypeScript is usually written: `./other.js` for the file that is other.ts.
  const source = specifier.replace(/\.(m?)js$/, ".$1ts");
  if (source === specifier || !/\.m?ts$/.test(context.parentURL ?? "")) throw error;
  return [source, context];
}

/** For `register`. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  try {
    return await next(specifier, context);
  } catch (error) {
    return next(...elsewhere(specifier, context, error));
  }
};

/** The same at once, for `registerHooks`. */
export function resolveNow(
  specifier: string,
  context: ResolveHookContext,
  next: (specifier: string, context: ResolveHookContext) => ResolveFnOutput,
): ResolveFnOutput {
  try {
    return next(specifier, context);
  } catch (error) {
    return next(...elsewhere(specifier, context, error));
  }
}

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

/** For both: nothing is awaited. */
export const load = <R>(
  url: string,
  context: LoadHookContext,
  next: (url: string, context: LoadHookContext) => R,
): R | Awaited<ReturnType<LoadHook>> => {
  if (!url.startsWith("file:") || !/\.m?ts$/.test(new URL(url).pathname)) return next(url, context);
  const path = fileURLToPath(url);
  const source = javaScriptOf(readFileSync(path, "utf8"), path);
  return { format: "module", source, shortCircuit: true };
};
