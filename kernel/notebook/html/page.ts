import { checkOptions } from "../../../common/options/check-options.js";
import { closedPageMeta } from "../../../common/picture/closed-page.js";
import { figureHtml, libraryHtml } from "../../../common/picture/figure-html.js";
import type { FigureLike } from "../../../common/picture/figure-like.js";
import { figurePicture } from "../../../common/picture/picture.js";
import { isFigure } from "../../display/figure/figure.js";
import { escapeHtml } from "../../display/html.js";
import { base64, sniffImage } from "../../display/displayable.js";
import type { Json } from "../../display/json.js";
import type { MimeBundle } from "../../host/host.js";
import { readInside } from "../files-inside.js";
import {
  joinLines,
  type Multiline,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
} from "../notebook.js";
import { ansiHtml } from "./ansi.js";
import { highlight } from "./highlight.js";
import { markdownHtml, mathHtml } from "./markdown.js";

const textOf = (content: unknown): string => joinLines(content as Multiline);

function picture(mime: string, base64: string, metadata: Record<string, unknown>): string {
  const size = (metadata[mime] ?? {}) as { width?: unknown; height?: unknown };
  const attribute = (name: "width" | "height"): string =>
    typeof size[name] === "number" ? ` ${name}="${size[name]}"` : "";
  const source = `data:${mime};base64,${base64.replace(/\s+/g, "")}`;
  return `<img src="${escapeHtml(source)}" alt=""${attribute("width")}${attribute("height")}>`;
}

function latexHtml(text: string): string {
  const parts = text.split(
    /(\$\$[^]+?\$\$|\$[^$]+?\$|\\\[[^]+?\\\]|\\\([^]+?\\\)|\\begin\{[^]+\\end\{\w+\*?\})/,
  );
  return parts
    .map((part, i) => {
      if (i % 2 === 0) return escapeHtml(part);
      if (part.startsWith("\\begin")) return mathHtml(part, true);
      const display = part.startsWith("$$") || part.startsWith("\\[");
      return mathHtml(
        part.slice(
          part.startsWith("$") && !display ? 1 : 2,
          part.startsWith("$") && !display ? -1 : -2,
        ),
        display,
      );
    })
    .join("");
}

/** plotly's own JSON: the page carries the library once, for all of them. */
const figureMime = "application/vnd.plotly.v1+json";

function livingFigure(figure: Json): string {
  const picture = isFigure(figure as object)
    ? figurePicture(figure as unknown as FigureLike)
    : undefined;
  return figureHtml(figure, picture ?? "", "");
}

/** How each mime type is put on a page, best first; scripts stay, so that figures stay alive. */
const renderers: [string, (content: unknown, metadata: Record<string, unknown>) => string][] = [
  [figureMime, (content) => livingFigure(content as Json)],
  ["text/html", (content) => `<section class="html">${textOf(content)}</section>`],
  [
    "image/svg+xml",
    (content) => picture("image/svg+xml", Buffer.from(textOf(content)).toString("base64"), {}),
  ],
  ...["image/png", "image/jpeg", "image/gif", "image/webp"].map(
    (mime): (typeof renderers)[number] => [
      mime,
      (content, metadata) => picture(mime, textOf(content), metadata),
    ],
  ),
  [
    "text/markdown",
    (content) => `<section class="markdown">${markdownHtml(textOf(content))}</section>`,
  ],
  ["text/latex", (content) => `<p>${latexHtml(textOf(content))}</p>`],
  [
    "application/javascript",
    (content) => `<script>${textOf(content).replace(/<\/(script)/gi, "<\\/$1")}</script>`,
  ],
  [
    "application/json",
    (content) =>
      `<details open><summary>JSON</summary><pre>${escapeHtml(JSON.stringify(content, null, 2))}</pre></details>`,
  ],
  ["text/plain", (content) => `<pre>${ansiHtml(textOf(content))}</pre>`],
];

function bundleHtml(data: MimeBundle, metadata: Record<string, unknown>): string {
  for (const [mime, render] of renderers) {
    if (data[mime] !== undefined) return render(data[mime], metadata);
  }
  return `<pre class="note">${escapeHtml(`[${Object.keys(data).join(", ")}]`)}</pre>`;
}

/** One output of a cell as HTML. */
export function outputHtml(output: NotebookOutput): string {
  switch (output.output_type) {
    case "stream":
      return `<pre class="${output.name === "stderr" ? "stderr" : "stdout"}">${ansiHtml(joinLines(output.text))}</pre>`;
    case "error":
      return `<pre class="error">${ansiHtml(output.traceback.join("\n") || `${output.ename}: ${output.evalue}`)}</pre>`;
    case "display_data":
      return bundleHtml(output.data, output.metadata);
    case "execute_result":
      return bundleHtml(output.data, output.metadata);
  }
}

/** The look of a page: light or dark as the reader's system is, fonts that are there already. */
export const style = `
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--faint:#656d76;--line:#d8dee4;--code:#f6f8fa;
--k:#cf222e;--s:#0a3069;--n:#0550ae;--c:#656d76;--f:#8250df;--error:#fff0ee;
--ansi-black:#24292f;--ansi-red:#cf222e;--ansi-green:#116329;--ansi-yellow:#7d4e00;--ansi-blue:#0969da;
--ansi-magenta:#8250df;--ansi-cyan:#1b7c83;--ansi-white:#6e7781;--ansi-bright-black:#57606a;
--ansi-bright-red:#a40e26;--ansi-bright-green:#1a7f37;--ansi-bright-yellow:#633c01;
--ansi-bright-blue:#218bff;--ansi-bright-magenta:#a475f9;--ansi-bright-cyan:#3192aa;--ansi-bright-white:#8c959f}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--faint:#8d96a0;--line:#30363d;
--code:#161b22;--k:#ff7b72;--s:#a5d6ff;--n:#79c0ff;--c:#8b949e;--f:#d2a8ff;--error:#2d1416;
--ansi-black:#484f58;--ansi-red:#ff7b72;--ansi-green:#3fb950;--ansi-yellow:#d29922;--ansi-blue:#58a6ff;
--ansi-magenta:#bc8cff;--ansi-cyan:#39c5cf;--ansi-white:#b1bac4;--ansi-bright-black:#6e7681;
--ansi-bright-red:#ffa198;--ansi-bright-green:#56d364;--ansi-bright-yellow:#e3b341;
--ansi-bright-blue:#79c0ff;--ansi-bright-magenta:#d2a8ff;--ansi-bright-cyan:#56d4dd;--ansi-bright-white:#fff}}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.55 system-ui,sans-serif}
main{max-width:920px;margin:0 auto;padding:24px 16px 80px}
article{margin:0 0 14px}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
.source,.markdown pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:8px 12px}
.source{position:relative}
.count{position:absolute;right:100%;margin-right:8px;color:var(--faint);font-size:12px;white-space:nowrap}
@media (max-width:1060px){.count{position:static;margin:0}}
.output{padding:6px 12px;overflow-x:auto}
.output>*+*{margin-top:6px}
.stderr{border-left:3px solid var(--ansi-yellow);padding-left:8px}
.error{background:var(--error);border-left:3px solid var(--ansi-red);padding:8px}
.note,.raw{color:var(--faint)}
.markdown table,.html table{border-collapse:collapse}
.markdown table{display:block;max-width:max-content;overflow-x:auto}
.markdown th:not([align]){text-align:left}
.markdown th,.markdown td{border:1px solid var(--line);padding:4px 10px}
.markdown :not(pre)>code{overflow-wrap:anywhere}
.markdown blockquote{margin:0;padding-left:14px;border-left:3px solid var(--line);color:var(--faint)}
.markdown img,.output img{max-width:100%}
a{color:var(--ansi-blue)}
math[display=block]{margin:10px 0;overflow-x:auto}
.k{color:var(--k)}.s{color:var(--s)}.n{color:var(--n)}.c{color:var(--c);font-style:italic}.f{color:var(--f)}
.ansi-bold{font-weight:700}.ansi-dim{opacity:.65}.ansi-italic{font-style:italic}
.ansi-underline{text-decoration:underline}.ansi-strike{text-decoration:line-through}.ansi-inverse{filter:invert(1)}
`;

/** What a page is called and where the pictures of its Markdown lie. */
interface PageOptions {
  /** The page's title. */
  title: string;
  /**
   * The notebook's folder: relative pictures below it are put into the page. Default: none,
   * pictures stay links.
   */
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
  return folder === undefined ? undefined : pictureIn(folder, address);
}

/** A picture below a folder, as an address that holds it. */
export function pictureIn(folder: string, address: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(address)) return undefined;
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
 * @param notebook the notebook, as `readNotebook` returns it
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { emptyNotebook, pageOf } from "arpo-lab/kernel";
 *
 * assert.match(pageOf(emptyNotebook().notebook, { title: "Empty" }), /<title>Empty<\/title>/);
 * ```
 */
export function pageOf(notebook: Notebook, options: PageOptions): string {
  checkOptions("make a page", options, { title: "text", folder: "text?" });
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
