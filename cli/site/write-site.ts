import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync } from "#platform/files";
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
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { plainFiles, readInside } from "../../kernel/notebook/files-inside.js";
import { pageOf } from "../../kernel/notebook/html/page.js";
import { parseNotebook } from "../../kernel/notebook/read.js";
import { buildPage } from "../../kernel/server/build-page.js";
import type { SiteFiles } from "../../platform/browser/site/mount.js";
import { aside } from "../say.js";
import { indexHtml, missingHtml, readingBar } from "./index-html.js";
import { siteFiles, typescriptModule } from "./site-files.js";

export interface SiteOptions {
  out: string;
  notebooks?: string;
  lessons?: boolean;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const made = join(root, "dist/tab-site");

/** The programs that every site has: a package brings them, a clone makes them. */
function programs(): string {
  const builder = join(root, "scripts/tab/build.mjs");
  if (existsSync(builder)) {
    const { status } = spawnSync(process.execPath, [builder], { stdio: ["ignore", 2, 2] });
    if (status !== 0) throw new Error(`Cannot write the site: ${builder} ended with ${status}`);
  }
  return made;
}

/** The files of a folder that are not hidden, by their names in it; what is no plain file is left out and named. */
const filesOf = (folder: string): string[] =>
  plainFiles(folder, (name) => aside(`${join(folder, name)}: left out, it is no file of its own`));

/**
 * What the lab needs that a page keeps for when there is no network, once it is idle. Pages to read, the explorer and
 * sympy are kept when somebody has asked for them; of the page's fonts every browser takes the smallest kind.
 */
const isKept = (name: string): boolean =>
  /^(lab|lab-static|package|python|scripts)\/|^site\.json$/.test(name) &&
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
export interface WrittenSite {
  out: string;
  files: number;
  bytes: number;
}

/** Writes the lab's site into a folder. */
export async function writeSite(options: SiteOptions): Promise<WrittenSite> {
  const { out: given, notebooks, lessons } = options;
  // npm runs scripts in the package's folder and says where it was called.
  const from = process.env["INIT_CWD"] ?? ".";
  const out = resolve(from, given);
  const folder = notebooks === undefined ? undefined : resolve(from, notebooks);
  checkOut(out);
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new RangeError(`Cannot write the site: --notebooks must be a folder, got ${folder}`);
  }
  const page = await buildPage({ say: aside });
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
  for (const [name, bytes] of siteFiles()) put(name, bytes);
  const site = JSON.parse(readFileSync(join(out, "site.json"), "utf8")) as SiteFiles & {
    lessons: Record<string, string>;
  };
  const schemas = join(page, "schemas");
  const texts = filesOf(schemas).map((name) => [name, readFileSync(join(schemas, name))] as const);
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
  for (const source of sources) {
    for (const name of filesOf(source)) {
      const bytes = readInside(source, name, Infinity);
      if (bytes === undefined) throw new Error(`Cannot write the site: ${name} went away`);
      put(`package/notebooks/${name}`, bytes);
      site.files.push([`notebooks/${name}`, bytes.length]);
      site.lessons[`notebooks/${name}`] = createHash("sha256")
        .update(bytes)
        .digest("hex")
        .slice(0, 16);
      if (!name.endsWith(".ipynb")) continue;
      if (source === sources.at(-1)) opened.push(name);
      const title = basename(name, ".ipynb");
      const { notebook } = parseNotebook(bytes.toString("utf8"), join(source, name));
      const [head = "", about = ""] = [notebook.cells[0]?.source ?? ""]
        .flat()
        .join("")
        .split(/\n\s*\n/);
      firstCells[`notebooks/${name}`] = `${head}\n\n${about}`;
      const html = pageOf(notebook, { title, folder: dirname(join(source, name)) });
      put(`read/${name.slice(0, -".ipynb".length)}.html`, readingBar(html, name));
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
  put("index.html", indexHtml(script, settings, `read/${first.slice(0, -".ipynb".length)}.html`));
  // Hosts that show this for addresses they do not have lead a shared address into the lab, too.
  put("404.html", missingHtml);
  put(".nojekyll", "");
  rmSync(join(out, "start.js"));
  const help = join(root, "dist/docs");
  if (existsSync(help)) cpSync(help, join(out, "help"), { recursive: true });
  const all = filesOf(out);
  const names = all.filter(isKept);
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name} `).update(readFileSync(join(out, name)));
  put("offline.json", JSON.stringify({ version: hash.digest("hex").slice(0, 16), names }));
  const bytes = all.reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
  return { out, files: all.length, bytes };
}
