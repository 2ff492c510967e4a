// Builds the page: `node build.mjs OUT`, run where node_modules holds what package-lock.json says.
//
// The JupyterLab application is composed from its npm extensions: every dependency whose name ends in
// -extension, and the widget manager. Out come `static` (scripts and styles), `themes` and `schemas`, and
// `notices.json`: whose code all that is.
import { build } from "esbuild";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { notices } from "./notices.mjs";
import { patches, privateMembers } from "./src/patches.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (out === undefined) throw new TypeError("Cannot build the page: use node build.mjs OUT");
const require = createRequire(join(here, "package.json"));
const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const packageOf = (name) => {
  const file = require.resolve(`${name}/package.json`);
  return { folder: dirname(file), json: JSON.parse(readFileSync(file, "utf8")) };
};

const manager = "@jupyter-widgets/jupyterlab-manager";
const extensions = Object.keys(dependencies).filter(
  (name) => name.endsWith("-extension") || name === manager,
);
const isTheme = (name) => name.includes("/theme-");
const entry = (name, kind) => {
  const value = packageOf(name).json.jupyterlab?.[kind];
  if (value === undefined || value === false) return undefined;
  return value === true || value === "" ? name : `${name}/${value}`;
};

/** `lab:extensions`: all plugins, and the style modules, which nothing imports by itself. */
function extensionsModule() {
  const list = (kind) => extensions.map((name) => entry(name, kind)).filter((e) => e !== undefined);
  const imports = [];
  const names = (kind, letter) =>
    list(kind).map((path, i) => {
      imports.push(`import * as ${letter}${i} from ${JSON.stringify(path)};`);
      return `${letter}${i}.default`;
    });
  const plugins = names("extension", "e");
  const mimes = names("mimeExtension", "m");
  for (const name of extensions) {
    const { styleModule } = packageOf(name).json;
    if (styleModule && !isTheme(name))
      imports.push(`import ${JSON.stringify(`${name}/${styleModule}`)};`);
  }
  return `${imports.join("\n")}
export const extensions = [${plugins.join(", ")}].flat();
export const mimeExtensions = [${mimes.join(", ")}].flat();`;
}

/** What this lab sets otherwise than JupyterLab; the reader's own settings come before both. */
const settings = {
  "@jupyterlab/apputils-extension/themes.json": { "adaptive-theme": true },
  // The first completion on a busy machine takes longer than a second.
  "@jupyterlab/completer-extension/manager.json": { providerTimeout: 10_000 },
  "@jupyterlab/filebrowser-extension/browser.json": { showLastModifiedColumn: false },
};

/** A plugin's schema with our defaults. */
function withSettings(file, schema) {
  for (const [name, value] of Object.entries(settings[file] ?? {})) {
    if (schema.properties[name] === undefined) throw new Error(`${file} has no setting ${name}`);
    schema.properties[name].default = value;
  }
  return schema;
}

for (const { file, members, user } of privateMembers) {
  const text = readFileSync(require.resolve(file), "utf8");
  const gone = members.filter((member) => !text.includes(member));
  if (gone.length > 0)
    throw new Error(`Cannot build the page: ${file} has no ${gone.join(", ")}, which ${user} uses`);
}

/** Ours, which stands for JupyterLab's. */
const settingRegistry = join(here, "src/settings/registry.ts");

const lab = {
  name: "lab",
  setup(b) {
    b.onResolve({ filter: /^lab:extensions$/ }, () => ({ path: "extensions", namespace: "lab" }));
    b.onLoad({ filter: /.*/, namespace: "lab" }, () => ({
      contents: extensionsModule(),
      resolveDir: here,
      loader: "js",
    }));
    b.onResolve({ filter: /^@jupyterlab\/settingregistry$/ }, ({ importer }) =>
      importer === settingRegistry ? undefined : { path: settingRegistry },
    );
    // The package of the ELK layout carries mermaid once more. Of that copy only the layout is asked for;
    // the diagrams it would load are the other's, and so is KaTeX.
    b.onResolve({ filter: /^\.\// }, ({ path, importer, kind, resolveDir }) => {
      if (kind !== "dynamic-import" || !/layout-elk\/dist\/chunks\//.test(importer))
        return undefined;
      if (/\/katex-/.test(path)) return b.resolve("katex", { importer, kind, resolveDir });
      return { path, namespace: "nothing" };
    });
    b.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "export {};" }));
    // In webpack's style sheets `~name` is a package.
    b.onResolve({ filter: /^~/ }, ({ path, importer, resolveDir, kind }) =>
      b.resolve(path.slice(1), { importer, resolveDir, kind }),
    );
    // Every browser that runs the page takes the first format it knows, which is woff2.
    b.onResolve({ filter: /\/fa-[\w-]+\.(eot|ttf|woff|svg)(\?.*)?(#.*)?$/ }, ({ kind }) =>
      kind === "url-token" ? { path: "data:,", external: true } : undefined,
    );
    // Icons are drawn from text in scripts, and are pictures in style sheets.
    b.onResolve({ filter: /\.svg(\?.*)?(#.*)?$/ }, async (args) => {
      if (args.kind !== "url-token" || args.pluginData === "seen") return undefined;
      const path = args.path.replace(/[?#].*$/, "");
      const { importer, resolveDir, kind } = args;
      const found = await b.resolve(path, { importer, resolveDir, kind, pluginData: "seen" });
      if (found.errors.length > 0) return found;
      return { path: found.path, namespace: "svg-url" };
    });
    b.onLoad({ filter: /.*/, namespace: "svg-url" }, async ({ path }) => ({
      contents: await readFile(path),
      loader: "dataurl",
    }));
    b.onLoad({ filter: /\.raw\.css$/ }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
      loader: "text",
    }));
    for (const { file, change } of patches) {
      b.onLoad({ filter: file }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const contents = change(text);
        if (contents === undefined) throw new Error(`Cannot build the page: ${path} has changed`);
        return { contents, loader: "js" };
      });
    }
  },
};

const shared = {
  bundle: true,
  minify: true,
  logLevel: "warning",
  legalComments: "none",
  absWorkingDir: here,
  target: "es2022",
  loader: {
    ".svg": "text",
    ".png": "dataurl",
    ".gif": "dataurl",
    ".woff": "file",
    ".woff2": "file",
    ".md": "text",
  },
  plugins: [lab],
};

mkdirSync(join(out, "static"), { recursive: true });
const { metafile } = await build({
  ...shared,
  metafile: true,
  entryPoints: { main: join(here, "src/main.ts") },
  outdir: join(out, "static"),
  format: "esm",
  splitting: true,
  platform: "browser",
  mainFields: ["browser", "module", "main"],
  chunkNames: "[hash]",
  assetNames: "[name]-[hash]",
  alias: { path: "path-browserify" },
  inject: [join(here, "src/process.ts")],
  define: {
    global: "globalThis",
    __dirname: '"/"',
    "process.env.NODE_ENV": '"production"',
  },
});

// What the page begins with, so that the browser fetches all of it at once.
const first = new Set();
const follow = (file) => {
  if (first.has(file)) return;
  first.add(file);
  for (const { path, kind } of metafile.outputs[file].imports)
    if (kind === "import-statement") follow(path);
};
follow(Object.keys(metafile.outputs).find((file) => file.endsWith("/static/main.js")));
writeFileSync(join(out, "first.json"), JSON.stringify([...first].map((file) => basename(file))));
const version = dependencies["@jupyterlab/application"];
writeFileSync(join(out, "version.json"), JSON.stringify({ version }));

const inputs = new Set(Object.keys(metafile.inputs));
for (const name of extensions) {
  const { folder, json } = packageOf(name);
  const { schemaDir, themePath } = json.jupyterlab ?? {};
  if (themePath) {
    const theme = await build({
      ...shared,
      metafile: true,
      entryPoints: { index: join(folder, themePath) },
      outdir: join(out, "themes", name),
    });
    for (const input of Object.keys(theme.metafile.inputs)) inputs.add(input);
  }
  if (schemaDir && existsSync(join(folder, schemaDir))) {
    const target = join(out, "schemas", name);
    mkdirSync(target, { recursive: true });
    for (const file of readdirSync(join(folder, schemaDir))) {
      if (!file.endsWith(".json")) continue;
      const text = readFileSync(join(folder, schemaDir, file), "utf8");
      const schema = withSettings(`${name}/${file}`, JSON.parse(text));
      writeFileSync(join(target, file), JSON.stringify({ ...schema, version: json.version }));
    }
  }
}
cpSync(join(here, "src/favicon.svg"), join(out, "static/favicon.svg"));

// A path may have its namespace in front and a question behind.
const files = [...inputs].map((input) => resolve(here, input.replace(/^[\w-]+:(?=\/)|\?.*$/g, "")));
writeFileSync(join(out, "notices.json"), JSON.stringify(notices(files)));
