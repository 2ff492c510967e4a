// What of the package a tab can read, and how it is fetched: large files each by itself, many small ones
// of which all are needed together as one pack. Made where a site is written, from what is installed.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = fileURLToPath(new URL("../../..", import.meta.url));
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
  ...["src", "kernel", "picture", "platform", "spelling", "http-server"].flatMap((name) =>
    below(`dist/${name}`, (file) => isTypes(file) && !file.includes(".test.")),
  ),
];

/** The standard library of JavaScript, which every cell is checked against. */
const library = (): Found[] =>
  below("dist/vendor/typescript", (name) =>
    /\/lib\.(es5|es20\d\d|esnext|decorators)[\w.]*\.d\.ts$/.test(name),
  ).filter(([name]) => !name.endsWith(".full.d.ts"));

const own = (name: string): Found => [name, join(root, name)];
const singles = (): Found[] => [
  own("package.json"),
  own("dist/vendor/typescript/package.json"),
  own("native/arpo.wasm"),
  own("native/arpo-relaxed.wasm"),
  ...below("data", (name) => !name.startsWith("data/python/")),
  ...below("docs/curves", () => true),
  ...below("docs/family-curves", () => true),
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
    out.set(`package/${name}`, bytes);
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
    const parts = inside.map(([, path]) => readFileSync(path));
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
