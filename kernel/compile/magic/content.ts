import { environment } from "#platform/process";
import type { CompiledCell } from "../../contract/compiler.js";
import { problem } from "./head.js";
import type { Reading } from "./read-cell.js";

const helpers: Record<string, string> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "text/latex": "latex",
  "image/svg+xml": "svg",
};

/** The TypeScript that a cell which is not code stands for. */
function standsFor(content: string, body: string): string {
  const helper = helpers[content];
  const text = `\`${body.replace(/[\\`]|\$\{/g, "\\$&")}\``;
  if (helper === undefined) return `await $.bash(${text})`;
  return `import { display } from "arpo-lab/kernel"; display.${helper}(${text})`;
}

/** A cell that prints what it would run. */
export function printingCell(reading: Reading): CompiledCell {
  const { content, map } = reading;
  const text = content === undefined ? map.text : standsFor(content, map.text);
  const printed = JSON.stringify(`${text.trim()}\n`);
  return { ok: true, js: `(async (scope) => { scope.print(${printed}); })`, diagnostics: [] };
}

/** A cell whose body is shown, or run by bash. */
export function contentCell(source: string, content: string, body: string): CompiledCell {
  if (content !== "bash") {
    const bundle = JSON.stringify({ [content]: body, "text/plain": body });
    return { ok: true, js: `(async (scope) => { scope.show(${bundle}); })`, diagnostics: [] };
  }
  if (environment["ARPO_LAB_ALLOW_BASH"] !== "1") {
    const rule = "the kernel must be started with ARPO_LAB_ALLOW_BASH=1";
    const start = source.indexOf("%%bash");
    const diagnostics = [problem(source, start, 6, `Cannot run %%bash: ${rule}`)];
    return { ok: false, diagnostics };
  }
  const js = `(async (scope) => { await scope.bash(${JSON.stringify(body)}); })`;
  return { ok: true, js, diagnostics: [] };
}
