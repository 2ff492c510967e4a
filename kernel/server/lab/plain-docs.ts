import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { escapeHtml } from "../../display/html.js";
import { markdownHtml } from "../../notebook/html/markdown.js";
import { pictureIn, style } from "../../notebook/html/page.js";

const notice =
  "<p>Plain pages. In a clone of the repository <code>npm run docs</code> builds the site with search and the API reference.</p>";

/** Headings with the names that links lead to. */
const withAnchors = (html: string): string =>
  html.replace(/<h([1-6])>([^]*?)<\/h\1>/g, (_, level: string, inside: string) => {
    const words = inside.replace(/<[^>]+>|&[^;]+;/g, "").toLowerCase();
    const name = words
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s+/g, "-");
    return `<h${level} id="${name}">${inside}</h${level}>`;
  });

/** A page without the marks of what only the built site shows; what stands between them stays. */
const withoutParts = (text: string): string => text.replace(/^<\/?[A-Z]\w*>$/gm, "");

/**
 * The Markdown pages of a folder as plain pages of HTML, by their names in a site: for a lab without the built
 * documentation, as after a plain `npm ci` or from the package.
 */
export function plainDocs(folder: string): Map<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  const placeOf = (name: string): string =>
    name === "README.md"
      ? "index.html"
      : name === "api-report.md"
        ? "reference/index.html"
        : name.replace(/md$/, "html");
  const pictures = (address: string): string | undefined => pictureIn(folder, address);
  return new Map(
    names.map((name) => {
      const up = "../".repeat(placeOf(name).split("/").length - 1);
      const text = withoutParts(readFileSync(join(folder, name), "utf8")).replace(
        /(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)/g,
        (all, shown: string, path: string, anchor = "") =>
          /^[a-z]+:/.test(path)
            ? all
            : names.includes(path)
              ? `[${shown}](${up}${placeOf(path)}${anchor})`
              : shown,
      );
      const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
      const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} - arpo-lab</title><style>${style}</style></head>`;
      const nav = `<p><a href="${up}index.html">Documentation</a></p>`;
      return [
        placeOf(name),
        `${head}<body><main>${nav}${name === "README.md" ? notice : ""}<section class="markdown">${withAnchors(markdownHtml(text, pictures))}</section></main></body></html>\n`,
      ];
    }),
  );
}
