// Packs the programs that run in pages, each with what it imports, into `dist/pages/NAME.js`: a module
// whose `program` is the text of a script that leaves `page.start`. A view carries that text in its HTML,
// so that a saved notebook needs nothing else.
import { build } from "esbuild";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rulesInPages } from "./rules-in-pages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

const pages = {
  branching: ["src/view/branching/page/start-branching.ts", "startBranching"],
  board: ["src/view/board/page/start-board.ts", "startBoard"],
  credit: ["src/view/credit/page/start-credit.ts", "startCredit"],
  early: ["kernel/server/lab/page/ask-ahead.ts", "askAhead"],
  evaluation: ["src/view/evaluation/page/start-evaluation.ts", "startEvaluation"],
  explain: ["src/view/explain/page/start-explain.ts", "startExplain"],
  explorer: ["src/view/explorer/page/start-explorer.ts", "startExplorer"],
  imported: ["src/view/imported/page/start-imported.ts", "startImported"],
  loop: ["src/view/loop/page/start-loop.ts", "startLoop"],
  scored: ["src/view/scored/page/start-scored.ts", "startScored"],
  status: ["src/view/status/page/start-status.ts", "startStatus"],
  tuner: ["src/view/tokens/tuner/page/start-tuner.ts", "startTuner"],
  tokens: ["src/view/tokens/page/start-tokens.ts", "startTokens"],
};

/**
 * Pages with explorers inside: each can save a tree as a page of its own, which starts `page.startTree`. The explorer's
 * program stands before their own, so that the package has it once.
 */
const withTrees = new Set(["startBoard", "startEvaluation", "startImported"]);
const explorer = "./src/view/explorer/page/start-explorer.ts";
const exported = { [pages.explorer[1]]: "start", openExplorers: "openExplorers" };

/** The explorer of a page that has its program before it. */
const explorerBefore = {
  name: "explorer-before",
  setup(build) {
    build.onLoad({ filter: /[\\/]explorer[\\/]page[\\/]start-explorer\.ts$/ }, () => ({
      contents: Object.entries(exported)
        .map(([name, as]) => `export const ${name} = explorer.${as};`)
        .join("\n"),
    }));
  },
};

/** A page's program in one piece, and the files it is made of. */
async function bundle([file, start]) {
  const trees = withTrees.has(start)
    ? `export { startExplorer as startTree } from "${explorer}";`
    : start === pages.explorer[1]
      ? `export { openExplorers } from "${explorer}";`
      : "";
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export { ${start} as start } from "./${file}";${trees}`, resolveDir: root },
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "page",
    target: "es2022",
    charset: "utf8",
    minify: true,
    metafile: true,
    absWorkingDir: root,
    logLevel: "error",
    plugins: [...(withTrees.has(start) ? [explorerBefore] : []), rulesInPages],
  });
  const files = Object.keys(metafile.inputs).filter((input) => input !== "<stdin>");
  return { text: outputFiles[0].text.trim(), files };
}

/** The sources that pages are made of. */
export async function pageSources() {
  const made = await Promise.all(Object.values(pages).map(bundle));
  return [...new Set(made.flatMap(({ files }) => files))];
}

/** A text as JavaScript. Programs hold many double quotes and few single ones, which need no backslash here. */
const quoted = (text) =>
  `'${text.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;

async function pack(name, page) {
  const { text } = await bundle(page);
  // Inside HTML these would end the script, or hide its end.
  if (/<\/script|<!--/i.test(text)) {
    throw new Error(`Cannot pack the page ${name}: its program must hold no </script and no <!--`);
  }
  const own = quoted(text);
  writeFileSync(
    join(root, `dist/pages/${name}.js`),
    withTrees.has(page[1])
      ? `import { program as explorer } from "./explorer.js";\nexport const program = explorer.replace("var page=", "var explorer=") + "\\n" + ${own};\n`
      : `export const program = ${own};\n`,
  );
  writeFileSync(
    join(root, `dist/pages/${name}.d.ts`),
    "/** The program of a page: a script that leaves `page.start`. */\nexport declare const program: string;\n",
  );
}

/** Packs every page. */
export async function packPages() {
  mkdirSync(join(root, "dist/pages"), { recursive: true });
  await Promise.all(Object.entries(pages).map(([name, page]) => pack(name, page)));
}
