import { figureHtml } from "../../../picture/figure-html.js";
import type { FigureLike } from "../../../picture/figure-like.js";
import { figurePicture } from "../../../picture/picture.js";
import { isFigure } from "../../display/figure/figure.js";
import { escapeHtml } from "../../display/html.js";
import type { Json } from "../../display/json.js";
import type { MimeBundle } from "../../host/host.js";
import { joinLines, type Multiline, type NotebookOutput } from "../notebook.js";
import { ansiHtml } from "./ansi.js";
import { markdownHtml } from "./markdown.js";
import { mathHtml } from "./math.js";

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
export const figureMime = "application/vnd.plotly.v1+json";

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
