// `npm run docs`: the documentation as a static site in dist/docs, for any static server and any path. `--serve` shows it
// on this machine.
// Installs what it needs beside itself once; neither `npm ci` nor `npm start` of the package runs it.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { relocate } from "./relocate.mjs";
import { writeReference } from "./reference.mjs";
import { serve } from "./serve.mjs";
import { llmsText } from "./llms.mjs";
import { groups, unlisted } from "./sidebar.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "../..");
const pages = join(here, ".pages");
const out = join(root, "dist/docs");

function run(command, args) {
  const { status } = spawnSync(command, args, {
    cwd: here,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0)
    throw new Error(`Cannot build the documentation: ${command} ${args[0]} must succeed`);
}
const put = (path, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => statSync(join(folder, name)).isFile());

if (!existsSync(join(here, "node_modules/vitepress")))
  run("npm", ["ci", "--no-audit", "--no-fund"]);
if (!existsSync(join(root, "dist/kernel")))
  throw new Error("Cannot build the documentation: run npm run build first");
const { pageOf } = await import("../../dist/kernel/notebook/html/page.js");

rmSync(pages, { recursive: true, force: true });
rmSync(out, { recursive: true, force: true });

/** Where a file of the repository is in the site. */
const places = new Map([
  ["README.md", "index.md"],
  ["notebooks/README.md", "lessons.md"],
]);
/** What stands in docs/, without the program that builds this site. */
const inDocs = filesBelow(join(root, "docs")).filter((name) => !name.startsWith("site/"));
for (const name of inDocs) {
  // The engineering log is for those who work on the package; the list of exports is the reference here.
  if (!/\.md$/.test(name) || /^internal\/|^api-report\.md$/.test(name)) continue;
  places.set(
    `docs/${name}`,
    name.replace(/README\.md$/, "index.md").replace(/^[A-Z]+\.md$/, (all) => all.toLowerCase()),
  );
}
const lessons = filesBelow(join(root, "notebooks")).filter((name) => /^[^/]+\.ipynb$/.test(name));
for (const name of lessons)
  places.set(`notebooks/${name}`, `lessons/${name.replace(/ipynb$/, "html")}`);
places.set("docs/api-report.md", "reference/index.md");

/** A file that the site shows as text. */
const shown = new Set();
function placeOf(path) {
  const place = places.get(path) ?? places.get(`${path}/README.md`);
  if (place !== undefined) return place;
  if (!/\.(ts|mjs|js|py|yaml|json|sh|md)$/.test(path) || !existsSync(join(root, path))) return;
  shown.add(path);
  return `source/${path}.html`;
}

/** A page with its links as the site has them. */
function withLinks(text, from, to) {
  const parts = text.split(/(^```[^]*?^```$)/m);
  return parts
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part.replace(/\]\(([^)\s#]*)(#[^)\s]*)?\)/g, (all, path, anchor = "") => {
            if (path === "" || /^[a-z]+:/.test(path)) return all;
            const target = posix
              .normalize(posix.join(posix.dirname(from), path))
              .replace(/\/$/, "");
            if (/\.(png|svg)$/.test(target)) return all;
            const place = placeOf(target);
            if (place === undefined) return `](https://arpo-lab.invalid/${target})`;
            let href = posix.relative(posix.dirname(to), place);
            if (!href.startsWith(".")) href = `./${href}`;
            // VitePress leads `.html` through its router; these pages are files beside its own.
            return /^(lessons|source)\//.test(place)
              ? `](${href}${anchor}){target="_self"}`
              : `](${href}${anchor})`;
          }),
    )
    .join("");
}
for (const [from, to] of places) {
  if (!from.endsWith(".md") || from === "README.md" || from === "docs/api-report.md") continue;
  put(join(pages, to), withLinks(readFileSync(join(root, from), "utf8"), from, to));
}
for (const name of inDocs.filter((name) => /\.(png|svg)$/.test(name))) {
  mkdirSync(dirname(join(pages, name)), { recursive: true });
  copyFileSync(join(root, "docs", name), join(pages, name));
}

writeReference({ here, into: join(pages, "reference"), run });

const listed = new Set(groups.flatMap(({ items }) => items.map(([, page]) => page)));
const there = (page) => existsSync(join(pages, `${page}.md`));
const titleOf = (page) => /^# (.+)$/m.exec(readFileSync(join(pages, `${page}.md`), "utf8"))?.[1];
const more = [...places.values()]
  .filter((place) => place.endsWith(".md"))
  .map((place) => place.slice(0, -".md".length))
  .filter((page) => !listed.has(page) && page !== "index");
const listedMore = more.filter((page) => !unlisted.test(page));
const sidebar = [
  ...groups,
  { text: "More", items: listedMore.map((page) => [titleOf(page), page]) },
]
  .map(({ text, items }) => ({
    text,
    items: items
      .filter(([, page]) => there(page))
      .map(([title, page]) => ({ text: title, link: `/${page.replace(/index$/, "")}` })),
  }))
  .filter(({ items }) => items.length > 0);
put(join(pages, "sidebar.json"), JSON.stringify(sidebar));

for (const name of lessons) {
  const notebook = JSON.parse(readFileSync(join(root, "notebooks", name), "utf8"));
  const title = name.slice(0, -".ipynb".length);
  const bar = `<p><a href="../lessons.html">All lessons</a></p>`;
  const html = pageOf(notebook, { title, folder: join(root, "notebooks") })
    // Into a view of the lesson: here it is a picture.
    .replace(/<a href="#(?:explorer|loop)&amp;[^"]*"[^>]*>([^]*?)<\/a>/g, "$1")
    .replace(/href="([^":#]+)(#[^"]*)?"/g, (all, path, anchor = "") => {
      const place = placeOf(posix.normalize(`notebooks/${path}`).replace(/\/$/, ""));
      if (place === undefined) return all;
      return `href="${posix.relative("lessons", place.replace(/\.md$/, ".html"))}${anchor}"`;
    });
  put(join(pages, `public/lessons/${title}.html`), html.replace("<main>", `<main>${bar}`));
}
const { sourcePage, sourcesNamed } = await import("./sources.mjs");
for (const path of new Set([...shown, ...sourcesNamed(join(pages, "reference"))]))
  put(join(pages, `public/source/${path}.html`), sourcePage(root, path));

const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const others = { text: "More", items: more.map((page) => [titleOf(page), page]) };
const pageText = (page) =>
  there(page) ? readFileSync(join(pages, `${page}.md`), "utf8") : undefined;
put(join(pages, "public/llms.txt"), llmsText(description, [...groups, others], pageText));

run("npx", ["vitepress", "build"]);
const { files, bytes } = relocate(out);
console.log(`dist/docs: ${files} files, ${(bytes / 1e6).toFixed(1)} MB`);
if (process.argv.includes("--serve")) serve(out);
else
  console.log("npm run docs -- --serve shows them: a browser opens no scripts of pages from disk.");
