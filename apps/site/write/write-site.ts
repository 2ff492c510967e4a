import { mkdirSync } from "#platform/files";
import { plainFiles, readInside } from "../../../kernel/notebook/files-inside.js";
import { pageOf } from "../../../kernel/notebook/html/page.js";
import type { Notebook } from "../../../kernel/notebook/notebook.js";
import { parseNotebook } from "../../../kernel/notebook/read.js";
import { emptyNotebook } from "../../../kernel/notebook/write.js";
import { buildPage } from "../../../kernel/server/build-page.js";
import { plainDocs } from "../../../kernel/server/lab/plain-docs.js";
import type { SiteFiles } from "../../../common/platform/browser/site/mount.js";
import { inPlanes, siteName } from "../../../common/platform/browser/site/planes.js";
import { againScripts } from "./again-scripts.js";
import type { SiteSettings } from "../tab/page/start.js";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

/**
 * The bytes of numbers of four bytes each in planes: all first bytes, then all second ones, and so on. A host packs
 * weights in this order by a sixth, because their exponents stand together.
 */
export function toPlanes(bytes: Uint8Array): Uint8Array {
  const planes = new Uint8Array(bytes.length);
  let at = 0;
  for (let k = 0; k < 4; k++) for (let i = k; i < bytes.length; i += 4) planes[at++] = bytes[i]!;
  return planes;
}

const inScript = (text: string): string => text.replaceAll("</", "<\\/");

/** The lab's page. `reading` is the page that can be read without JavaScript. */
export function labHtml(
  script: string,
  settings: SiteSettings,
  { reading, icon }: { reading: string; icon: string },
): string {
  const given = JSON.stringify(settings);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="base-uri 'none'; form-action 'none'; object-src 'none'">
<title>arpo-lab</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${icon}
</head>
<body class="jp-ThemedContainer">
<noscript>The lab needs JavaScript. <a href="${reading}">Its first notebook can be read without.</a></noscript>
<script>${inScript(script)}
tab.start(${inScript(given)});</script>
</body>
</html>
`;
}

export const missingHtml = `<!doctype html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>arpo-lab</title>
<script>
const [, base, open] = /^(.*?\\/)((?:lab|doc)\\/(?:tree|workspaces)\\b.*)$/.exec(location.pathname) ?? [];
if (base) location.replace(base + "lab.html?open=" + encodeURIComponent(decodeURIComponent(open)) + location.hash);
</script>
<p>There is no such page.
`;

/**
 * Where a link of a notebook leads on the site, where `READ` are the pages to read: other notebooks to their pages, the
 * documentation's sources to its pages. Undefined where the site has nothing for it.
 */
export function readingLink(
  name: string,
  href: string,
  has: (file: string) => boolean,
): string | undefined {
  const [path = "", anchor] = href.split("#") as [string?, string?];
  if (path === "" || /^([a-z][\w+.-]*:|\/\/)/i.test(href)) return href;
  const source = posix.join("notebooks", posix.dirname(name), path);
  const page = source
    .replace(/^notebooks\//, "read/")
    .replace(/(^|\/)README\.md$/, "$1index.html")
    .replace(/\.(ipynb|md)$/, ".html");
  if (!has(page)) return undefined;
  const from = posix.dirname(posix.join("read", name));
  return posix.relative(from, page) + (anchor === undefined ? "" : `#${anchor}`);
}

/** The page with its links leading where the site has something; those that lead nowhere are text. */
function withLinks(html: string, name: string, has: (file: string) => boolean): string {
  const link = (whole: string, href: string, rest: string, text: string): string => {
    const to = readingLink(name, href, has);
    if (to === href) return whole;
    return to === undefined ? text : `<a href="${to}"${rest}>${text}</a>`;
  };
  // Behind the last end of a link there is none: a search there would begin again and again.
  const end = html.lastIndexOf("</a>") + 4;
  const links = html.slice(0, end).replace(/<a href="([^"]*)"([^<>]*)>([^]*?)<\/a>/g, link);
  return links + html.slice(end);
}

/** What the explorer shows of a tree, by the text that the tree has in a notebook's outputs. */
type Recorded = readonly { text: string; html: string }[];

/** The notebook with the explorer where an output is a tree that was recorded. */
function withExplorers(notebook: Notebook, recorded: Recorded): Notebook {
  const cells = notebook.cells.map((cell) => ({
    ...cell,
    outputs: cell.outputs?.map((output) => {
      if (!("data" in output)) return output;
      const text = [output.data["text/plain"] ?? ""].flat().join("");
      const found = recorded.find((one) => one.text === text);
      return found ? { ...output, data: { ...output.data, "text/html": found.html } } : output;
    }),
  }));
  return { ...notebook, cells };
}

/** A notebook's page with the way to where it runs. */
function readingBar(html: string, name: string): string {
  if (!name.endsWith(".ipynb")) return html;
  const up = "../".repeat(name.split("/").length);
  const open = encodeURIComponent(`lab/tree/notebooks/${name}`);
  const bar = `<nav aria-label="Lab" style="position:sticky;top:0;z-index:9;padding:.5em 1em;background:Canvas;color:CanvasText;border-bottom:1px solid GrayText"><a href="${up}lab.html?open=${open}">Open this notebook in the lab</a>: its cells run in your browser, nothing is installed.</nav>`;
  return html.replace("<main>", `${bar}<main>`);
}

// What of the package a tab can read, and how it is fetched: large files each by itself, many small ones
// of which all are needed together as one pack. Made where a site is written, from what is installed.

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const require = createRequire(import.meta.url);

const nodeTypes = dirname(require.resolve("@types/node/package.json"));
/** Where packages are that the site brings a part of: npm may have put them beside this one, or in it. */
const packages: Readonly<Record<string, string>> = {
  "@types/node": nodeTypes,
  "undici-types": dirname(
    createRequire(join(nodeTypes, "package.json")).resolve("undici-types/package.json"),
  ),
};
const plotly = "plotly.js-cartesian-dist-min";
const pyodideFiles = ["pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
const sqlite = "node-sqlite3-wasm";

/** A file of the site, `node_modules/...` for those of other packages, and where it lies. */
type Found = readonly [name: string, path: string];

function below(
  name: string,
  wanted: (name: string) => boolean,
  folder = join(root, name),
): Found[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((inner): Found => [`${name}/${inner.replaceAll("\\", "/")}`, join(folder, inner)])
    .filter(([file, path]) => wanted(file) && statSync(path).isFile())
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const isTypes = (name: string): boolean => /\.d\.[mc]?ts$|\/package\.json$/.test(name);

/** The declarations that cells are checked against, for whoever imports something. */
const types = (): Found[] => [
  ...Object.entries(packages).flatMap(([name, folder]) =>
    below(`node_modules/${name}`, isTypes, folder),
  ),
  ...["danfojs", "tfjs", "zod"].flatMap((name) => below(`dist/vendor/${name}`, isTypes)),
  ...["common", "src", "kernel", "notebooks"].flatMap((name) =>
    below(`dist/${name}`, (file) => isTypes(file) && !file.includes(".test.")),
  ),
];

/** Other people's declarations without their comments, which are half of what a first import fetches. */
const declarations = (file: string, bytes: Buffer): Buffer =>
  /^(node_modules|dist\/vendor\/(?!typescript))\b.*\.ts$/.test(file)
    ? Buffer.from(bytes.toString("utf8").replace(/^[ \t]*\/\*\*[^]*?\*\/[ \t]*\n/gm, ""))
    : bytes;

/** The standard library of JavaScript, which every cell is checked against. */
const library = (): Found[] =>
  below("dist/vendor/typescript", (name) =>
    /\/lib\.(es5|es20\d\d|esnext|decorators)[\w.]*\.d\.ts(\.json)?$/.test(name),
  ).filter(([name]) => !name.endsWith(".full.d.ts"));

const own = (name: string): Found => [name, join(root, name)];
const singles = (): Found[] => [
  own("package.json"),
  own("dist/vendor/typescript/package.json"),
  own("native/arpo.wasm"),
  own("native/arpo-relaxed.wasm"),
  ...below("data", (name) => !name.startsWith("data/python/")),
  ...below("docs/evidence/curves", () => true),
  ...below("docs/evidence/family-curves", () => true),
  own("docs/evidence/data/multihop-shipped.jsonl.gz"),
  [`vendor/${sqlite}.wasm`, join(dirname(require.resolve(sqlite)), `${sqlite}.wasm`)],
];

/** The library that draws, as `packed/` has it in the tab. */
function packedPlotly(): Uint8Array {
  const folder = dirname(require.resolve(`${plotly}/package.json`));
  const packed = gzipSync(readFileSync(join(folder, "plotly-cartesian.min.js")), { level: 9 });
  return Buffer.from(packed.toString("base64"));
}

/** The files of a site, by name: those of the package below `package/`, and the list of them, `site.json`. */
export function siteFiles(): Map<string, Uint8Array> {
  const out = new Map<string, Uint8Array>();
  const files: [string, number][] = [];
  const add = (name: string, bytes: Uint8Array): void => {
    out.set(`package/${siteName(name)}`, inPlanes(name) ? toPlanes(bytes) : bytes);
    files.push([name, bytes.length]);
  };
  for (const [name, path] of singles()) add(name, readFileSync(path));
  add(`packed/${plotly}`, packedPlotly());
  const packs = (
    [
      ["library.txt", library()],
      ["types.txt", types()],
    ] as const
  ).map(([name, inside]) => {
    const parts = inside.map(([file, path]) => declarations(file, readFileSync(path)));
    out.set(`package/${name}`, Buffer.concat(parts));
    return { name, files: inside.map(([file], i) => [file, parts[i]!.length]) };
  });
  for (const name of pyodideFiles) {
    out.set(
      `python/${name}`,
      readFileSync(join(dirname(require.resolve("pyodide/package.json")), name)),
    );
  }
  out.set("python/packages.zip", readFileSync(join(root, "data/python/packages.zip")));
  out.set("site.json", Buffer.from(JSON.stringify({ files, packs })));
  return out;
}

/** TypeScript as a module, for the thread that compiles. */
export function typescriptModule(): Uint8Array {
  const text = readFileSync(join(root, "dist/vendor/typescript/typescript.js"), "latin1");
  return Buffer.from(
    `const module = { exports: {} };\n(function (exports, module) {${text}\n})(module.exports, module);\nexport default module.exports;\n`,
    "latin1",
  );
}

export interface SiteOptions {
  out: string;
  notebooks?: string;
  lessons?: boolean;
  /** Told what takes long. */
  say?: (line: string) => void;
}

const made = join(root, "dist/tab-site");

/** The programs that every site has: a package brings them, a clone makes them. */
function programs(): string {
  const builder = join(root, "tools/tab/build.mjs");
  if (existsSync(builder)) {
    const { status } = spawnSync(process.execPath, [builder], { stdio: ["ignore", 2, 2] });
    if (status !== 0) throw new Error(`Cannot write the site: ${builder} ended with ${status}`);
  }
  return made;
}

/** The files of a folder that are not hidden, by their names in it; what is no plain file is left out and named. */
const filesOf = (folder: string, say: (line: string) => void): string[] =>
  plainFiles(folder, (name) => say(`${join(folder, name)}: left out, it is no file of its own`));

/**
 * What the lab needs that a page keeps for when there is no network, once it is idle. Pages to read, the explorer and
 * sympy are kept when somebody has asked for them; of the page's fonts every browser takes the smallest kind.
 */
const isKept = (name: string): boolean =>
  /^(lab|lab-static|package|python|scripts)\/|^(lab\.html|site\.json)$/.test(name) &&
  !/^lab-static\/.*\.(eot|svg|ttf|woff)$|^python\/packages\.zip$/.test(name);

/** Refuses a place that cannot be written to before the work begins: it takes a minute. */
function checkOut(out: string): void {
  const refuse = (got: string): never => {
    throw new RangeError(`Cannot write the site: ${out} must be new, empty or a site, got ${got}`);
  };
  try {
    mkdirSync(out, { recursive: true });
    accessSync(out, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    refuse(code === "EEXIST" || code === "ENOTDIR" ? "a file in its way" : `${code}`);
  }
  if (readdirSync(out).length > 0 && !existsSync(join(out, "site.json")))
    refuse("a folder with other files");
}

/** What was written. */
interface WrittenSite {
  out: string;
  files: number;
  bytes: number;
}

/** Writes the lab's site into a folder. */
export async function writeSite(options: SiteOptions): Promise<WrittenSite> {
  const { out: given, notebooks, lessons, say = () => undefined } = options;
  // npm runs scripts in the package's folder and says where it was called.
  const from = process.env["INIT_CWD"] ?? ".";
  const out = resolve(from, given);
  const folder = notebooks === undefined ? undefined : resolve(from, notebooks);
  checkOut(out);
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new RangeError(`Cannot write the site: --notebooks must be a folder, got ${folder}`);
  }
  const page = await buildPage({ say });
  const scripts = programs();
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  cpSync(scripts, out, { recursive: true });
  cpSync(join(page, "static"), join(out, "lab-static"), { recursive: true });
  cpSync(join(page, "themes"), join(out, "lab/api/themes"), { recursive: true });

  const put = (name: string, bytes: Uint8Array | string): void => {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeFileSync(join(out, name), bytes);
  };
  put("scripts/typescript.js", typescriptModule());
  for (const [name, text] of againScripts()) put(`explore/${name}`, text);
  for (const [name, bytes] of siteFiles()) put(name, bytes);
  const site = JSON.parse(readFileSync(join(out, "site.json"), "utf8")) as SiteFiles & {
    lessons: Record<string, string>;
  };
  const schemas = join(page, "schemas");
  const texts = filesOf(schemas, say).map(
    (name) => [name, readFileSync(join(schemas, name))] as const,
  );
  put("package/schemas.txt", Buffer.concat(texts.map(([, bytes]) => bytes)));
  site.packs.push({
    name: "schemas.txt",
    files: texts.map(([name, { length }]) => [`page/schemas/${name}`, length]),
  });

  site.lessons = {};
  const sources = [
    ...(lessons === true || folder === undefined ? [join(root, "notebooks")] : []),
    ...(folder === undefined ? [] : [folder]),
  ];
  const opened: string[] = [];
  const firstCells: Record<string, string> = {};
  const trees = join(out, "trees.json.gz");
  const recorded = JSON.parse(gunzipSync(readFileSync(trees)).toString()) as Recorded;
  rmSync(trees);
  /** Pages to read by their files, each with the name of what it shows. */
  const reading = new Map<string, { name: string; html: string }>();
  for (const source of sources) {
    for (const name of filesOf(source, say)) {
      // The lessons' exercises are code of the package.
      if (source === join(root, "notebooks") && name.startsWith("exercises/")) continue;
      const bytes = readInside(source, name, Infinity);
      if (bytes === undefined) throw new Error(`Cannot write the site: ${name} went away`);
      put(`package/${siteName(`notebooks/${name}`)}`, bytes);
      site.files.push([`notebooks/${name}`, bytes.length]);
      site.lessons[`notebooks/${name}`] = createHash("sha256").update(bytes).digest("hex");
      const page = `read/${name.replace(/(^|\/)README\.md$/, "$1index.html").replace(/\.ipynb$/, ".html")}`;
      if (page.endsWith("/index.html")) {
        const cell = {
          cell_type: "markdown" as const,
          id: "index",
          source: bytes.toString("utf8"),
          metadata: {},
        };
        const index = { ...emptyNotebook().notebook, cells: [cell] };
        reading.set(page, { name, html: pageOf(index, { title: "Lessons" }) });
      }
      if (!name.endsWith(".ipynb")) continue;
      if (source === sources.at(-1)) opened.push(name);
      const title = basename(name, ".ipynb");
      const { notebook } = parseNotebook(bytes.toString("utf8"), join(source, name));
      const [head = "", about = ""] = [notebook.cells[0]?.source ?? ""]
        .flat()
        .join("")
        .split(/\n\s*\n/);
      firstCells[`notebooks/${name}`] = `${head}\n\n${about}`;
      const shown = withExplorers(notebook, recorded);
      const html = pageOf(shown, { title, folder: dirname(join(source, name)) });
      reading.set(page, { name, html });
    }
  }
  const [first] = opened.filter((name) => !name.includes("/")).sort();
  if (first === undefined) {
    throw new RangeError(`Cannot write the site: ${folder} must have a notebook, got none`);
  }
  put("site.json", JSON.stringify(site));
  const pieces = JSON.parse(readFileSync(join(page, "first.json"), "utf8")) as string[];
  const { version } = JSON.parse(readFileSync(join(page, "version.json"), "utf8")) as {
    version: string;
  };
  const script = readFileSync(join(out, "start.js"), "utf8");
  const settings = { version, pieces, first: `notebooks/${first}`, lessons: firstCells };
  const drawing = encodeURIComponent(readFileSync(join(out, "landing/favicon.svg"), "utf8"));
  // The lab's address changes while it is open: its icon has none.
  const icon = `<link rel="icon" href="data:image/svg+xml,${drawing}">`;
  const begin = `read/${first.slice(0, -".ipynb".length)}.html`;
  const lab = labHtml(script, settings, { reading: begin, icon });
  put("lab.html", lab);
  // The landing page is about the lessons; notebooks of somebody's own come first on their site.
  if (folder !== undefined && lessons !== true) put("index.html", lab);
  // Hosts that show this for addresses they do not have lead a shared address into the lab, too.
  put("404.html", missingHtml);
  put(".nojekyll", "");
  rmSync(join(out, "start.js"));
  // The documentation: as `npm run docs` built it, or else its pages without search and reference.
  const docs = join(root, "dist/docs");
  if (existsSync(join(docs, "index.html"))) cpSync(docs, join(out, "docs"), { recursive: true });
  else for (const [name, html] of plainDocs(join(root, "docs"))) put(`docs/${name}`, html);
  const has = (file: string): boolean => reading.has(file) || existsSync(join(out, file));
  for (const [file, { name, html }] of reading)
    put(
      file,
      readingBar(withLinks(html, name, has), name).replace("</head>", () => `${icon}\n</head>`),
    );
  const all = filesOf(out, say);
  const names = all.filter(isKept);
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name} `).update(readFileSync(join(out, name)));
  put("offline.json", JSON.stringify({ version: hash.digest("hex").slice(0, 16), names }));
  const bytes = all.reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
  return { out, files: all.length, bytes };
}
