import { readFileSync } from "node:fs";
import { resolve, sep } from "node:path";
import { libraryHtml } from "../../../picture/packed-library.js";
import { escapeHtml } from "../../display/html.js";
import { base64, sniffImage } from "../../display/image.js";
import { joinLines, type Multiline, type Notebook, type NotebookCell } from "../notebook.js";
import { highlight } from "./highlight.js";
import { markdownHtml } from "./markdown.js";
import { figureMime, outputHtml } from "./output-html.js";
import { style } from "./style.js";

/** What a page is called and where the pictures of its Markdown lie. */
export interface PageOptions {
  title: string;
  /** The notebook's folder: relative pictures below it are put into the page. */
  folder?: string;
}

// Nothing is fetched, whatever an output tries: the browser itself holds the page to that.
const policy =
  "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; " +
  "img-src data: blob:; font-src data:; media-src data: blob:; worker-src blob:; connect-src data: blob:";

/** A picture from the cell's attachments, or from a file below the notebook's folder. */
function findPicture(
  cell: NotebookCell,
  address: string,
  folder: string | undefined,
): string | undefined {
  const attached = /^attachment:(.*)$/.exec(address)?.[1];
  if (attached !== undefined) {
    for (const [mime, content] of Object.entries(cell.attachments?.[decodeURI(attached)] ?? {})) {
      const bytes = Buffer.from(joinLines(content as Multiline), "base64");
      if (sniffImage(bytes) !== undefined) return `data:${mime};base64,${base64(bytes)}`;
    }
    return undefined;
  }
  if (folder === undefined || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return undefined;
  const path = resolve(folder, decodeURI(address));
  if (!path.startsWith(resolve(folder) + sep)) return undefined;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined; // a picture that is not there is shown as its description
  }
  const mime = sniffImage(bytes) ?? (path.endsWith(".svg") ? "image/svg+xml" : undefined);
  return mime === undefined ? undefined : `data:${mime};base64,${base64(bytes)}`;
}

function cellHtml(cell: NotebookCell, language: string, folder: string | undefined): string {
  const source = joinLines(cell.source);
  if (cell.cell_type === "markdown") {
    const inside = markdownHtml(source, (address) => findPicture(cell, address, folder));
    return `<article class="markdown">${inside}</article>`;
  }
  if (cell.cell_type === "raw")
    return `<article><pre class="raw">${escapeHtml(source)}</pre></article>`;
  const count =
    cell.execution_count == null ? "" : `<span class="count">[${cell.execution_count}]</span>`;
  const code = `<section class="source">${count}<pre>${highlight(source, language)}</pre></section>`;
  const outputs = (cell.outputs ?? []).map(outputHtml).join("\n");
  return `<article>${code}${outputs === "" ? "" : `<section class="output">${outputs}</section>`}</article>`;
}

/**
 * A notebook as one HTML page that needs nothing else: Markdown, mathematics, code, outputs.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { emptyNotebook, pageOf } from "arpo-lab/kernel/notebook";
 *
 * assert.match(pageOf(emptyNotebook().notebook, { title: "Empty" }), /<title>Empty<\/title>/);
 * ```
 */
export function pageOf(notebook: Notebook, options: PageOptions): string {
  const info = (notebook.metadata["language_info"] ?? {}) as { name?: unknown };
  const language = typeof info.name === "string" ? info.name : "typescript";
  const figures = notebook.cells.some((cell) =>
    cell.outputs?.some((output) => "data" in output && figureMime in output.data),
  );
  const cells = notebook.cells.map((cell) => cellHtml(cell, language, options.folder));
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(options.title)}</title>`,
    `<style>${style}</style></head><body><main>`,
    figures ? libraryHtml() : "",
    ...cells,
    "</main></body></html>",
    "",
  ].join("\n");
}
