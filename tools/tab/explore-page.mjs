// Writes the page that is only the explorer: `node tools/tab/explore-page.mjs OUT` makes OUT/explore.html and
// OUT/explore/, from compiled sources, for any static host and any path.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { againScripts } from "../../dist/apps/site/write/again-scripts.js";
import { bundleForTab, root } from "./bundle.mjs";

const source = join(root, "apps/site/explore");

/** Views carry their programs as text, for notebooks; here the page has them itself. */
const withoutPrograms = {
  name: "without-programs",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/]pages[\\/]\w+\.js$/ }, () => ({
      contents: 'export const program = "";',
    }));
  },
};

/** A tokenizer needs no database. */
const withoutDatabase = {
  name: "without-database",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#sqlite$/ }, () => ({ path: "none", namespace: "database" }));
    onLoad({ filter: /./, namespace: "database" }, () => ({ contents: "export {};" }));
  },
};

/** The files of each example. */
const examples = {
  "arpo-lab": [
    "data/rollouts/arpo-trees.jsonl",
    "data/models/tiny/tokenizer.json",
    "data/models/tiny/tokenizer_config.json",
  ],
  verl: ["tests/fixtures/rollouts/verl/0.9.1/3.jsonl"],
  verifiers: ["tests/fixtures/rollouts/verifiers-traces/traces.jsonl"],
  trl: ["tests/fixtures/rollouts/trl/completions/completions_00005.parquet"],
};

/** A module that gives a program as text; the module is a third as long. */
function packedProgram(contents) {
  const packed = gzipSync(contents, { level: 9 }).toString("base64");
  return `const packed = new Blob([Uint8Array.from(atob("${packed}"), (letter) => letter.charCodeAt(0))]);
const plain = packed.stream().pipeThrough(new DecompressionStream("gzip"));
export const program = await new Response(plain).text();
`;
}

function exampleScript() {
  const files = Object.entries(examples).map(([name, paths]) => [
    name,
    paths.map((path) => ({
      name: basename(path),
      base64: readFileSync(join(root, path)).toString("base64"),
    })),
  ]);
  return `export const files = ${JSON.stringify(Object.fromEntries(files))};\n`;
}

/**
 * Writes the page below a folder; gives its files with their sizes. `policy` adds the engine and the policy that ships: a
 * site's writer has them from the package.
 */
export async function writeExplorePage(out, { policy = true } = {}) {
  const options = { minify: true, plugins: [withoutPrograms, withoutDatabase] };
  const reading = { "reading-worker": "dist/apps/site/explore/reading-worker.js" };
  const { outputFiles } = await bundleForTab(
    { "start-page": "dist/apps/site/explore/start-page.js", ...reading },
    { ...options, chunkNames: "part-[hash]" },
  );
  const whole = { splitting: false, format: "iife" };
  const [alone] = (await bundleForTab(reading, { ...options, ...whole })).outputFiles;
  const folder = join(out, "explore");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const written = [
    ...outputFiles.map(({ path, contents }) => [basename(path), contents]),
    ["examples.js", exampleScript()],
    // For browsers whose workers may import nothing.
    ["reading-alone.js", packedProgram(alone.contents)],
    ...(policy ? againScripts() : []),
    ["page.css", readFileSync(join(source, "page.css"))],
  ];
  for (const [name, contents] of written) writeFileSync(join(folder, name), contents);
  cpSync(join(source, "explore.html"), join(out, "explore.html"));
  return Object.fromEntries(written.map(([name, contents]) => [name, contents.length]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [out] = process.argv.slice(2);
  if (out === undefined || process.argv.length > 3) {
    console.error("usage: node tools/tab/explore-page.mjs OUT");
    process.exit(2);
  }
  const sizes = Object.values(await writeExplorePage(out));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  console.log(
    `${join(out, "explore.html")}: ${sizes.length} files, ${(bytes / 1e6).toFixed(1)} MB`,
  );
}
