// The compiler inside the kernel, as a package of its own in dist/vendor: without what nobody here calls, comments
// and white space a kernel starts sooner, and beside the declarations of the standard library nothing else of it is
// needed.
import { build } from "./bundle.mjs";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stock = join(root, "node_modules/typescript");

/** Half of a browser's declarations is what MDN says of them, 1.2 MB; what is deprecated stays marked. */
const withoutWords = (text) =>
  text.replace(/^[ \t]*\/\*\*(?:(?!\*\/)[^])*\*\/\r?\n/gm, (comment) =>
    comment.includes("@deprecated") ? comment : "",
  );

/** What of typescript.js is an editor's server. */
const ofServer = /^src\/(?:server|typingsInstallerCore|deprecatedCompat|typescript\/_namespaces)\//;

/** Where the package's code calls the compiler. */
const callers = ["kernel", "src/base/modules/hooks.ts"];

function* sourcesIn(path) {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path)) yield* sourcesIn(join(path, name));
  } else if (path.endsWith(".ts") && !path.endsWith(".test.ts")) yield path;
}

/** All words of those files: what is exported under one of them may be used. */
function wordsOfCallers() {
  const words = new Set();
  for (const place of callers) {
    for (const path of sourcesIn(join(root, place))) {
      for (const [word] of readFileSync(path, "utf8").matchAll(/[\w$]+/g)) words.add(word);
    }
  }
  return words;
}

/** What of typescript.js may be used: the names it exports and its own for them. */
function usedExports(text) {
  const [, all] = /^__export\(typescript_exports, \{\n([^]*?)^\}\);$/m.exec(text);
  const words = wordsOfCallers();
  return [...all.matchAll(/^ {2}([\w$]+): \(\) => ([\w$]+),?$/gm)]
    .map(([, name, local]) => ({ name, local }))
    .filter(({ name, local }) => words.has(name) && !local.startsWith("ts_server"));
}

/**
 * typescript.js as a module that exports what is used, so that esbuild can leave out what nothing of that needs:
 * fixes, refactorings and whatever else is only there for an editor. Its namespaces are written so that they can go.
 */
function usedOf(text, exported) {
  const [, ...sections] = text.split(/^\/\/ (src\/\S+)\n/m);
  let module = "";
  for (let i = 0; i < sections.length; i += 2) {
    if (!ofServer.test(sections[i])) module += sections[i + 1];
  }
  module = module
    .replace(
      /^var typescript_exports = \{\};\n__export\(typescript_exports, [^]*?^module\.exports = .*\n/m,
      "",
    )
    .replace(/^\/\/ Annotate the CommonJS export names[^]*/m, "")
    .replace(/^(?:registerCodeFix|registerRefactor)\([^]*?^\}\);\n/gm, "")
    .replace(
      /^var (\w+) = \{\};\n__export\(\1, (\{\n[^]*?^\})\);\n/gm,
      "var $1 = /* @__PURE__ */ __namespace($2);\n",
    )
    .replace(
      /^var (\w+);\n\(\((\w+)\) => \{\n([^]*?)^\}\)\(\1 \|\| \(\1 = \{\}\)\);\n/gm,
      (found, name, inner, body) =>
        keptNamespaces.has(name)
          ? found
          : `var ${name} = /* @__PURE__ */ ((${inner}) => {\n${body}return ${inner};\n})({});\n`,
    )
    .replace(/^var (errorCodes\d*) = (\[[^]*?\]);\n/gm, "var $1 = /* @__PURE__ */ (() => $2)();\n")
    .replace(
      /^var (\w+) = (getLocaleSpecificMessage\(.*\));\n/gm,
      "var $1 = /* @__PURE__ */ (() => $2)();\n",
    );
  const helpers = `
var __namespace = (all) => {
  const made = {};
  for (const name in all) Object.defineProperty(made, name, { get: all[name], enumerable: true });
  return made;
};
`;
  const list = exported.map(({ name, local }) => `${local} as ${name}`).join(", ");
  return `${helpers}${module}\nexport { ${list} };\n`;
}

/** These say their own name while they are made. */
const keptNamespaces = new Set(["Debug", "Parser", "IncrementalParser", "tracingEnabled"]);

const arrays = [
  "Int8",
  "Uint8",
  "Uint8Clamped",
  "Int16",
  "Uint16",
  "Int32",
  "Uint32",
  "Float16",
  "Float32",
  "Float64",
]
  .concat("BigInt64", "BigUint64")
  .map((kind) => `${kind}Array`);

/**
 * Names of the standard library that are declared in files of their own, which the kernel reads when a cell names
 * one of them: nothing else of the library does, and they are four tenths of it.
 */
const later = [
  ...arrays,
  ...arrays.map((name) => `${name}Constructor`),
  "DataView",
  "DataViewConstructor",
  "Atomics",
];

const isLibrary = (file) => /^lib\.(?:es5|es20\d\d|esnext|decorators)\b.*\.d\.ts$/.test(file);

/** The names that a statement of a declaration file declares. */
const declared = (statement) =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.map(({ name }) => name.text)
    : [statement.name?.text];

/** Whether the code of a text, or only a comment, has one of the names. */
function mentions(node) {
  if (ts.isIdentifier(node) && later.includes(node.text)) return node.text;
  return ts.forEachChild(node, mentions);
}

/** A library's text in two: what every cell can see from the start, and what it must name. */
function split(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const parts = { first: "", later: "" };
  let at = 0;
  for (const statement of source.statements) {
    const isLater = declared(statement).some((name) => later.includes(name));
    const name = isLater ? undefined : mentions(statement);
    if (name !== undefined) {
      throw new Error(`Cannot split ${file}: ${declared(statement)} must not name ${name}`);
    }
    parts[isLater ? "later" : "first"] += text.slice(at, statement.end);
    at = statement.end;
  }
  parts.first += text.slice(at);
  return parts;
}

const notice = `/*! Copyright (c) Microsoft Corporation, Apache License 2.0 (LICENSE.txt). Changed: comments are numbers, and
their texts stand in the file of the same name with .json. */
`;

/** A library's text without comments; what documents something leaves a number. */
function withoutComments(text) {
  const comments = [];
  const bare = text.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|^\/\/\/ *<reference.*$)|[ \t]*\/\/.*|\/\*[^]*?\*\//gm,
    (found, kept) => {
      if (kept !== undefined) return kept;
      if (!found.startsWith("/**") || found === "/**/") return "";
      return `/**${comments.push(found) - 1}*/`;
    },
  );
  return { bare: notice + bare.replace(/\s*\n(?:[ \t]*\n)*/g, "\n").trimStart(), comments };
}

function writeLibrary(folder, file, text) {
  const parts = split(file, text);
  const rest = file.replace(/\.d\.ts$/, ".later.d.ts");
  if (parts.later !== "") parts.first = `/// <reference path="${rest}" />\n${parts.first}`;
  for (const [name, part] of [
    [file, parts.first],
    [rest, parts.later],
  ]) {
    if (part === "") continue;
    const { bare, comments } = withoutComments(part);
    writeFileSync(join(folder, name), bare);
    if (comments.length > 0) writeFileSync(join(folder, `${name}.json`), JSON.stringify(comments));
  }
}

/** Packs TypeScript into `folder`, unless what is there is what it would be. */
export async function packTypeScript(folder) {
  const text = readFileSync(join(stock, "lib/typescript.js"), "utf8");
  const exported = usedExports(text);
  const { name, version, license } = JSON.parse(readFileSync(join(stock, "package.json"), "utf8"));
  const uses = exported.map((each) => each.name);
  const about = { name, version, license, type: "commonjs", main: "typescript.js", later, uses };
  const made = join(folder, "package.json");
  const tool = fileURLToPath(import.meta.url);
  if (existsSync(made) && statSync(made).mtimeMs > statSync(tool).mtimeMs) {
    const there = JSON.parse(readFileSync(made, "utf8"));
    delete there.digest;
    if (JSON.stringify(there) === JSON.stringify(about)) return;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    stdin: {
      contents: usedOf(text, exported),
      resolveDir: join(stock, "lib"),
      sourcefile: "typescript.js",
    },
    outfile: join(folder, "typescript.js"),
    platform: "node",
    format: "cjs",
    target: "node20",
    charset: "ascii",
    minify: true,
    treeShaking: true,
    logLevel: "error",
  });
  // A cell runs in Node or in a tab, whose declarations are lib.dom's: 0.8 MB of a worker's are left out.
  for (const file of readdirSync(join(stock, "lib"))) {
    if (!/^lib\.(?!webworker\b).*\.d\.ts$/.test(file)) continue;
    const from = join(stock, "lib", file);
    if (isLibrary(file)) writeLibrary(folder, file, readFileSync(from, "utf8"));
    else if (file !== "lib.dom.d.ts") copyFileSync(from, join(folder, file));
    else writeFileSync(join(folder, file), withoutWords(readFileSync(from, "utf8")));
  }
  for (const notice of ["LICENSE.txt", "ThirdPartyNoticeText.txt"])
    copyFileSync(join(stock, notice), join(folder, notice));
  // Last: where it is, the rest is.
  const packed = readFileSync(join(folder, "typescript.js"));
  const digest = createHash("sha256").update(packed).digest("hex").slice(0, 12);
  writeFileSync(made, `${JSON.stringify({ ...about, digest }, undefined, 2)}\n`);
}
