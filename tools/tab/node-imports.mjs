// What of Node a bundle for a browser would reach, and by which imports.
import { transform } from "esbuild";
import { readFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { bundleForTab, root } from "./bundle.mjs";

const builtin = new Set(builtinModules);
const isNode = (path) => path.startsWith("node:") || builtin.has(path);

/** Lets the bundle go on where it meets Node, so that all of it is found. */
const keepGoing = {
  name: "keep-going",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ path }) =>
      isNode(path) || path.endsWith(".node") ? { path, external: true } : undefined,
    );
    onResolve({ filter: /\.node$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** What the bundle of these entries is made of; each bundle is made once. */
const made = new Map();
function inputsOf(entries) {
  const key = entries.join(" ");
  const known = made.get(key) ?? bundleForTab(entries, { plugins: [keepGoing] });
  made.set(key, known);
  return known.then(({ metafile }) => metafile.inputs);
}

/** The shortest way of imports from an entry to a file. */
function wayTo(file, inputs, entries) {
  const from = new Map(entries.map((entry) => [entry, undefined]));
  for (const at of from.keys()) {
    if (at === file) {
      const way = [];
      for (let step = at; step !== undefined; step = from.get(step)) way.unshift(step);
      return way;
    }
    for (const { path } of inputs[at]?.imports ?? []) if (!from.has(path)) from.set(path, at);
  }
  return [file];
}

/** Every import of Node that these files reach, with the way there: `entry > … > file > node:fs`. */
export async function nodeImports(entries) {
  const inputs = await inputsOf(entries);
  return Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports
      .filter(({ path }) => isNode(path) || path.endsWith(".node"))
      .map(({ path }) => [...wayTo(file, inputs, entries), path].join(" > ")),
  );
}

/** What only Node has by name: Node's globals, and methods of its timers. */
const globals =
  /(?<![.\w$#/-])(?:process\.(?!\s)\w+|Buffer\.\w+|setImmediate\(|clearImmediate\(|global\.)|(?<=setTimeout\([^;]*|setInterval\([^;]*)\.unref\(/g;

/** Every use of a global of Node's in the project's own files that these entries reach. */
export async function nodeGlobals(entries) {
  const inputs = await inputsOf(entries);
  const found = [];
  for (const file of Object.keys(inputs)) {
    if (!file.startsWith("dist/") || file.startsWith("dist/vendor/")) continue;
    const text = await readFile(join(root, file), "utf8");
    const { code } = await transform(text, { minifyWhitespace: true, legalComments: "none" });
    const uses = new Set(code.match(globals));
    if (uses.size > 0)
      found.push(`${wayTo(file, inputs, entries).join(" > ")}: ${[...uses].join(", ")}`);
  }
  return found;
}
