// `npm run docs`: the documentation as pages of HTML in dist/docs, the pages of docs/ and a reference of
// every entry point made from its doc comments. The lab's help opens them. No page asks the network.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { exportsOf, entryPoints } from "./reference/declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = join(root, "dist/docs");
const html = (name) => import(new URL(`../dist/kernel/notebook/html/${name}.js`, import.meta.url));
const [{ highlight }, { style }] = await Promise.all([html("highlight"), html("page")]);
const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

const slug = (text) =>
  text
    .toLowerCase()
    .replace(/<[^>]+>|&[^;]+;/g, "")
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

/** The pages by their sources. */
const pages = new Map([
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => [`docs/${name}`, name.replace(/^README\.md$/, "index.md")]),
  ["docs/curves/README.md", "curves/index.md"],
  ["CONTRIBUTING.md", "CONTRIBUTING.md"],
  ["notebooks/README.md", "notebooks/index.md"],
]);
for (const [from, to] of pages) pages.set(from, to.replace(/\.md$/, ".html"));

/** The source of the page that is being made. */
let source = "";

/** Where a link leads among the pages; undefined where it leads to a file that is none. */
function link(href) {
  const [path, anchor] = href.split("#");
  if (/^[a-z]+:/.test(href) || path === "") return href;
  const to = pages.get(posix.normalize(posix.join(posix.dirname(source), path)));
  if (to === undefined) return undefined;
  const page = posix.relative(posix.dirname(pages.get(source)), to);
  return anchor === undefined ? page : `${page}#${anchor}`;
}

const marked = new Marked({ gfm: true });
marked.use({
  renderer: {
    code: ({ text, lang }) =>
      `<pre class="source"><code>${highlight(text, (lang ?? "").split(/\s/)[0])}</code></pre>`,
    heading({ tokens, depth }) {
      const inside = this.parser.parseInline(tokens);
      return `<h${depth} id="${slug(inside)}">${inside}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const to = link(href);
      const inside = this.parser.parseInline(tokens);
      return to === undefined ? inside : `<a href="${escape(to)}">${inside}</a>`;
    },
  },
});

const more = `nav{max-width:920px;margin:0 auto;padding:10px 16px;border-bottom:1px solid var(--line);font-size:14px}
nav a{margin-right:14px}pre.source{margin:8px 0;overflow-x:auto}h3{margin-top:34px}
h3 small{color:var(--faint);font-weight:400}table{border-collapse:collapse}
th,td{border:1px solid var(--line);padding:4px 10px;vertical-align:top}img{max-width:100%}
.names{columns:16em;font-size:14px}.names a{display:block}`;

function page(path, title, body) {
  const up = "../".repeat(path.split("/").length - 1);
  const file = join(out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"><meta name="viewport" content="width=device-width">
<title>${escape(title)} - arpo-lab</title><style>${style}${more}</style></head><body>
<nav><a href="${up}index.html">Documentation</a><a href="${up}reference/index.html">Reference</a></nav>
<main>${body}</main></body></html>
`,
  );
}

rmSync(out, { recursive: true, force: true });
for (const [from, to] of pages) {
  const text = readFileSync(join(root, from), "utf8");
  source = from;
  page(to, /^# (.+)$/m.exec(text)?.[1] ?? to, marked.parse(text));
}
for (const folder of ["images", "curves"]) {
  mkdirSync(join(out, folder), { recursive: true });
  for (const name of readdirSync(join(root, "docs", folder)).filter((n) => /\.(png|svg)$/.test(n)))
    copyFileSync(join(root, "docs", folder, name), join(out, folder, name));
}

const entries = entryPoints()
  .filter(({ name }) => !name.startsWith("arpo-lab/internal/"))
  .map((entry) => ({ ...entry, exports: exportsOf(entry.path) }));
const fileOf = ({ name }) => `${name.replaceAll("/", "-")}.html`;
const experimental = ({ name }) => name.startsWith("arpo-lab/experimental/");
for (const entry of entries) {
  const names = entry.exports.map(({ name }) => `<a href="#${name}">${name}</a>`).join("");
  const sections = entry.exports.map(
    ({ name, kind, comment, code }) =>
      `<h3 id="${name}">${name} <small>${kind}</small></h3>\n` +
      `<pre class="source"><code>${highlight(code, "ts")}</code></pre>\n${marked.parse(comment)}`,
  );
  const note = experimental(entry) ? "<p>Experimental: may change in any release.</p>" : "";
  page(
    `reference/${fileOf(entry)}`,
    entry.name,
    `<h1>${entry.name}</h1>${note}<p class="names">${names}</p>${sections.join("\n")}`,
  );
}
const listOf = (some) =>
  some
    .map(
      (entry) =>
        `<h2><a href="${fileOf(entry)}">${entry.name}</a></h2><p class="names">` +
        entry.exports.map(({ name }) => `<a href="${fileOf(entry)}#${name}">${name}</a>`).join("") +
        "</p>",
    )
    .join("");
page(
  "reference/index.html",
  "Reference",
  `<h1>Reference</h1><p>What each entry point exports, from its doc comments. Every example runs as a test.</p>` +
    listOf(entries.filter((entry) => !experimental(entry))) +
    `<h1>Experimental</h1><p>These may change in any release.</p>` +
    listOf(entries.filter(experimental)),
);
const count = entries.reduce((sum, entry) => sum + entry.exports.length, 0);
console.log(`dist/docs: ${pages.size} pages, ${count} exports of ${entries.length} entry points`);
