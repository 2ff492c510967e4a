import { closedPageMeta } from "../../../picture/closed-page.js";
import { libraryHtml } from "../../../picture/packed-library.js";
import { escapeHtml } from "../../display/html.js";
import { base64, sniffImage } from "../../display/image.js";
import { readInside } from "../files-inside.js";
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

/** A picture from the cell's attachments, or from a file below the notebook's folder. */
function findPicture(
  cell: NotebookCell,
  address: string,
  folder: string | undefined,
): string | undefined {
  const attached = /^attachment:(.*)$/.exec(address)?.[1];
  if (attached !== undefined) {
    for (const [mime, content] of Object.entries(
      cell.attachments?.[readable(attached) ?? attached] ?? {},
    )) {
      const bytes = Buffer.from(joinLines(content as Multiline), "base64");
      if (sniffImage(bytes) !== undefined) return `data:${mime};base64,${base64(bytes)}`;
    }
    return undefined;
  }
  if (folder === undefined || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return undefined;
  const path = readable(address);
  const bytes = path === undefined ? undefined : readInside(folder, path);
  // A picture that is not there, or not in the notebook's folder, is shown as its description.
  const mime = bytes && (sniffImage(bytes) ?? (isSvg(bytes) ? "image/svg+xml" : undefined));
  return mime === undefined ? undefined : `data:${mime};base64,${base64(bytes!)}`;
}

function readable(address: string): string | undefined {
  try {
    return decodeURI(address);
  } catch {
    return undefined;
  }
}

/** Whether a file is a drawing, by what it begins with and not by its name. */
function isSvg(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 4096)).toString("utf8");
  return /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/i.test(
    start,
  );
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
    cell.execution_count == null
      ? ""
      : `<span class="count">[${escapeHtml(String(cell.execution_count))}]</span>`;
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
 * import { emptyNotebook, pageOf } from "arpo-lab/kernel";
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
    // Nothing is fetched, whatever an output tries: the browser itself holds the page to that.
    closedPageMeta,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(options.title)}</title>`,
    `<style>${style}</style></head><body><main>`,
    figures ? libraryHtml() : "",
    ...cells,
    "</main></body></html>",
    "",
  ].join("\n");
}
