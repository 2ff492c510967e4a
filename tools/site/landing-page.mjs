// Writes the page that a site begins with: OUT/index.html and OUT/landing/, from compiled sources.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { loadTrees, Policy, score, advantages } from "../../dist/src/api/index.js";
import { explore, Explorer } from "../../dist/src/view/explorer/explore.js";
import { theLoop } from "../../dist/src/view/loop/the-loop.js";
import { loopStyle } from "../../dist/src/view/loop/style.js";
import { toHtml } from "../../dist/src/view/export/to-html.js";
import { widgetStyle } from "../../dist/src/view/page/style.js";
import { transform } from "esbuild";
import { bundleForTab, root } from "../tab/bundle.mjs";
import { rulesInPages } from "../views/rules-in-pages.mjs";

const source = join(root, "apps/site/landing");

// Alternatives of a token that the page carries.
const alternatives = 4;

/** Of a rule a page needs where it branches, and no more. */
const small = {
  ...{ minify: true, keepNames: false, splitting: false, format: "iife" },
  plugins: [rulesInPages],
};

/** The recorded tree, and what its explorer is given. */
async function recordedTree() {
  const { tokenizer } = await Policy.load(join(root, "data/models/tiny"));
  const [tree] = await loadTrees(join(source, "tree.jsonl"));
  const scored = await score(tree);
  const batch = advantages(scored, { estimator: "grpo" });
  const tokens = tree.nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  const alternativeBytes = 4 * alternatives * tokens;
  return { tree, options: { scored, batch, tokenizer, alternativeBytes } };
}

/** The explorers of trees that `npm run lessons` kept. */
function lessonTrees() {
  const folder = join(root, "tools/site/lesson-trees");
  return readdirSync(folder).flatMap((name) =>
    JSON.parse(readFileSync(join(folder, name), "utf8")).map(({ text, tree }) => ({
      text,
      html: new Explorer(tree).html(),
    })),
  );
}

/** Writes it below a folder. */
export async function writeLandingPage(out) {
  const { tree, options } = await recordedTree();
  const loop = await theLoop(join(root, "data/loop.json"));
  const { code } = await transform(
    widgetStyle + loopStyle + readFileSync(join(source, "landing.css"), "utf8"),
    { loader: "css", minify: true },
  );
  const parts = {
    "/* style */": code,
    "/* loop */": JSON.stringify(loop.payload).replaceAll("<", "\\u003c"),
  };
  // Without the indentation of its lines.
  let html = readFileSync(join(source, "landing.html"), "utf8").replace(/^ +/gm, "");
  for (const [place, text] of Object.entries(parts)) html = html.replace(place, () => text);
  const { outputFiles } = await bundleForTab(
    { landing: "apps/site/landing/start-landing.ts" },
    small,
  );
  const explorer = await bundleForTab(
    { explorer: "apps/site/landing/open-tree.ts" },
    { ...small, globalName: "explorer" },
  );
  mkdirSync(join(out, "landing"), { recursive: true });
  writeFileSync(join(out, "index.html"), html);
  writeFileSync(join(out, "loop.html"), toHtml(loop));
  writeFileSync(join(out, "landing/landing.js"), outputFiles[0].contents);
  writeFileSync(join(out, "landing/explorer.js"), explorer.outputFiles[0].contents);
  cpSync(join(source, "pictures"), join(out, "landing"), { recursive: true });
  // For pages to read: explorers in the places of trees' pictures.
  const recorded = [
    { text: loop.summary, html: loop.html() },
    { text: String(tree), html: explore(tree, options).html() },
    ...lessonTrees(),
  ];
  writeFileSync(join(out, "trees.json.gz"), gzipSync(JSON.stringify(recorded), { level: 9 }));
  cpSync(join(root, "kernel/server/page/src/favicon.svg"), join(out, "landing/favicon.svg"));
}
