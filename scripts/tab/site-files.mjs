// What of the package a tab can read, and how it is fetched: large files each by itself, many small ones
// of which all are needed together as one pack.
import { gzipSync } from "node:zlib";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bundle.mjs";

const below = (folder, wanted) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .filter((name) => wanted(name) && statSync(join(root, name)).isFile())
    .sort();

const isTypes = (name) => /\.d\.[mc]?ts$|\/package\.json$/.test(name);

/** The declarations that cells are checked against, for whoever imports something. */
const types = () => [
  ...below("node_modules/@types/node", isTypes),
  ...below("node_modules/undici-types", isTypes),
  ...["danfojs", "tfjs", "zod"].flatMap((name) => below(`dist/vendor/${name}`, isTypes)),
  ...["src", "kernel", "picture", "platform", "spelling", "http-server"].flatMap((name) =>
    below(`dist/${name}`, (file) => isTypes(file) && !file.includes(".test.")),
  ),
];

/** The standard library of JavaScript, which every cell is checked against. */
const library = () =>
  below("dist/vendor/typescript", (name) =>
    /\/lib\.(es5|es20\d\d|esnext|decorators)[\w.]*\.d\.ts$/.test(name),
  ).filter((name) => !name.endsWith(".full.d.ts"));

const singles = () => [
  "package.json",
  "dist/vendor/typescript/package.json",
  "native/arpo.wasm",
  ...below("data", (name) => !name.startsWith("data/python/")),
  ...below("docs/curves", () => true),
  ...below("docs/family-curves", () => true),
];

/** Where the bytes of a file of the site are. */
function bytesOf(name) {
  if (name === "vendor/node-sqlite3-wasm.wasm")
    return readFileSync(join(root, "node_modules/node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm"));
  if (name.startsWith("packed/"))
    return Buffer.from(
      gzipSync(readFileSync(join(root, "node_modules", name.slice(7), packedFile)), {
        level: 9,
      }).toString("base64"),
    );
  return readFileSync(join(root, name));
}
const packedFile = "plotly-cartesian.min.js";

/** The files of a site, by name: those of the package below `package/`, and the list of them, `site.json`. */
export function siteFiles() {
  const out = new Map();
  const names = [
    ...singles(),
    "vendor/node-sqlite3-wasm.wasm",
    "packed/plotly.js-cartesian-dist-min",
  ];
  const files = names.map((name) => {
    const bytes = bytesOf(name);
    out.set(`package/${name}`, bytes);
    return [name, bytes.length];
  });
  const packs = [
    ["library.txt", library()],
    ["types.txt", types()],
  ].map(([name, inside]) => {
    const parts = inside.map((file) => readFileSync(join(root, file)));
    out.set(`package/${name}`, Buffer.concat(parts));
    return { name, files: inside.map((file, i) => [file, parts[i].length]) };
  });
  out.set("site.json", Buffer.from(JSON.stringify({ files, packs })));
  return out;
}

/** TypeScript as a module, for the thread that compiles. */
export function typescriptModule() {
  const text = readFileSync(join(root, "dist/vendor/typescript/typescript.js"), "latin1");
  return Buffer.from(
    `const module = { exports: {} };\n(function (exports, module) {${text}\n})(module.exports, module);\nexport default module.exports;\n`,
    "latin1",
  );
}
