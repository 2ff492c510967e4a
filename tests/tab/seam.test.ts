import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../../../", import.meta.url);
const { nodeImports, nodeGlobals } = (await import(
  new URL("scripts/tab/node-imports.mjs", root).href
)) as {
  nodeImports: (entries: readonly string[]) => Promise<string[]>;
  nodeGlobals: (entries: readonly string[]) => Promise<string[]>;
};

const { tabLines } = (await import(new URL("scripts/tab/lines.mjs", root).href)) as {
  tabLines: () => { place: string; lines: number }[];
};

/** The public entries of the toolkit, without those that serve or look at a machine. */
function toolkit(): string[] {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    exports: Record<string, { default: string } | string>;
  };
  return Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === "string" || /^\.\/(kernel|serve|doctor|scale)/.test(name)
      ? []
      : [entry.default.slice("./".length)],
  );
}

test("a browser reaches nothing of Node from any public entry of the toolkit", async () => {
  const entries = toolkit();
  assert.ok(entries.includes("dist/src/index.js") && entries.length > 20, entries.join(" "));
  assert.deepEqual(await nodeImports(entries), []);
});

test("nor does any public entry use a global of Node's", async () => {
  assert.deepEqual(await nodeGlobals(toolkit()), []);
});

test("what exists only for a tab stays under 4,000 lines", () => {
  const lines = tabLines().reduce((sum, place) => sum + place.lines, 0);
  assert.ok(lines > 500 && lines < 4000, `${lines} lines`);
});

test("the ratchet names the way to what it finds", async () => {
  const found = await nodeImports(["dist/src/serve/index.js"]);
  assert.ok(
    found.some((way) => /^dist\/src\/serve\/index\.js > .* > node:http$/.test(way)),
    found.join("\n"),
  );
});
