import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../../../", import.meta.url);
const { nodeImports, nodeGlobals } = (await import(
  new URL("tools/tab/node-imports.mjs", root).href
)) as {
  nodeImports: (entries: readonly string[]) => Promise<string[]>;
  nodeGlobals: (entries: readonly string[]) => Promise<string[]>;
};

const { tabLines } = (await import(new URL("tools/tab/lines.mjs", root).href)) as {
  tabLines: () => { place: string; lines: number }[];
};

/** The public entries of the toolkit, without those that serve or look at a machine. */
function toolkit(): string[] {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    exports: Record<string, { default: string } | string>;
  };
  return Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === "string" ||
    /^\.\/(kernel|experimental\/(capture|kernel|serve|doctor|scale))/.test(name)
      ? []
      : [entry.default.slice("./".length)],
  );
}

test("a browser reaches nothing of Node from any public entry of the toolkit", async () => {
  const entries = toolkit();
  assert.ok(entries.includes("dist/src/api/index.js") && entries.length > 15, entries.join(" "));
  assert.deepEqual(await nodeImports(entries), []);
});

test("nor does any public entry use a global of Node's", async () => {
  assert.deepEqual(await nodeGlobals(toolkit()), []);
});

/** The kernel's threads, as a tab has them, and the routes of its server. */
const kernel = [
  "apps/site/tab/kernel/cells.js",
  "apps/site/tab/kernel/compiler.js",
  "apps/site/tab/kernel/launch.js",
  ...["contents/contents.js", "contents/routes.js", "lab/routes.js", "lab/pages.js"],
  ...["kernels/channels.js", "kernels/kernels.js", "kernels/routes.js", "kernels/sessions.js"],
].map((name) =>
  name.startsWith("apps/site/tab/") ? `dist/${name}` : `dist/kernel/server/${name}`,
);

test("nor does the kernel, or what its server answers with", async () => {
  assert.deepEqual(await nodeImports(kernel), []);
  const telling = /kernel\/(browser\/process|compile\/magic\/elsewhere)\.js: /; // in what they say
  assert.deepEqual(
    (await nodeGlobals(kernel)).filter((way) => !telling.test(way)),
    [],
  );
});

test("cells of a tab import every entry point but those that serve or look at a machine", async () => {
  const { entryPoints } = await import("../../apps/site/tab/kernel/entry-points.js");
  const { exports } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const wanted = Object.keys(exports).filter(
    (name) =>
      !/^\.\/(kernel|experimental\/(capture|kernel|serve|doctor|profile|scale)|package\.json)/.test(
        name,
      ),
  );
  assert.deepEqual(
    Object.keys(entryPoints).sort(),
    wanted.map((name) => `arpo-lab${name.slice(1)}`).sort(),
  );
});

test("what exists only for a tab stays under 4,400 lines", () => {
  const lines = tabLines().reduce((sum, place) => sum + place.lines, 0);
  assert.ok(lines > 500 && lines < 4400, `${lines} lines`);
});

test("the ratchet names the way to what it finds", async () => {
  const found = await nodeImports(["dist/src/api/experimental/serve.js"]);
  assert.ok(
    found.some((way) => /^dist\/src\/api\/experimental\/serve\.js > .* > node:http$/.test(way)),
    found.join("\n"),
  );
});

test("the tab's compiler has the stage cells that package.json names", () => {
  const { "arpo-lab": own } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
    "arpo-lab": { stages: string[] };
  };
  const text = readFileSync(new URL("apps/site/tab/kernel/compiler.ts", root), "utf8");
  for (const path of own.stages)
    assert.ok(text.includes(`"file:///lab/${path.replace("./", "")}"`), path);
});
