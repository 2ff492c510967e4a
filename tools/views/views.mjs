// Pictures of every view and figure, on light and dark pages at three widths, and a page that shows them side
// by side: `npm run -s views`, `npm run -s views -- credit board`. They lie in the folder that is printed,
// or that `--to FOLDER` names. The trees are what the shipped model writes. `--docs` takes the pictures of the
// views in docs/images anew, and nothing else; tools/site/landing-pictures.mjs takes those of the tab.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const from = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const words = process.argv.slice(2).filter((word) => word !== "--docs");
const isDocs = process.argv.includes("--docs");
const at = words.indexOf("--to");
const folder =
  at < 0 ? mkdtempSync(join(tmpdir(), "arpo-views-")) : resolve(words.splice(at, 2)[1]);
const themes = ["light", "dark"];
const widths = [1400, 660, 390];

const { browserPath } = await from("tests/view/browser.js");
if (browserPath === undefined)
  throw new Error("Cannot picture views: Chromium must be installed, got none");

const { policy, tools } = await from("src/run/session-defaults.js");
const { rollout } = await from("src/api/rollout.js");
const { score } = await from("src/api/learn.js");
const { tasks } = await from("src/api/run.js");
const { toHtml } = await from("src/api/view.js");
const { everyView } = await from("src/view/testing/every-view.js");
const prompts = tasks.mixed({ seed: 7 }).test.slice(0, 6);
const trees = await rollout(policy, prompts, {
  n: 16,
  initialRollouts: 8,
  beamSize: 2,
  tools,
  seed: 1,
});
const views = await everyView({ trees, scored: await score(trees), policy });

/** What the docs show: a branch point with the sliders beside it, and the credit of a token. */
const documented = {
  explorer: async (page) => {
    await page.focus(".ax-scroll");
    await page.keyboard.press("b");
    await page.keyboard.press("w");
  },
  credit: async () => undefined,
  explainer: async (page) => {
    await page.click('[data-algorithm="aepo"]');
    await page.locator(".arpo-text span:not(.arpo-untrained)").nth(12).click();
  },
  "token-view": async () => undefined,
  board: async () => undefined,
  loop: async (page) => {
    await page.fill(".al-curve input", "24");
  },
};

/** One update of the shipped model, and a run of it: what the documents show besides `views`. */
async function forDocuments() {
  const { Policy } = await from("src/api/policy.js");
  const { advantages, update } = await from("src/api/learn.js");
  const { trainOn } = await from("src/api/run.js");
  const { board, clipComparison, explain } = await from("src/api/view.js");
  const learner = await Policy.load(
    fileURLToPath(new URL("../../data/models/tiny", import.meta.url)),
  );
  const batch = advantages(await score(trees[0]), { estimator: "grpo" });
  const report = await update(learner, batch, { preset: "aepo", learningRate: 5e-4, epochs: 2 });
  const { tokenizer } = learner;
  const run = await trainOn(learner, tasks.mixed({ seed: 7 }), {
    ...{ preset: "arpo", steps: 24, prompts: 4, n: 8, tools, testEvery: 8 },
  });
  return {
    explainer: explain(report, { tokenizer }),
    "token-view": clipComparison(batch, { tokenizer }),
    board: board(run, { title: "ARPO, 24 steps of the tiny model" }),
  };
}

const chosen = Object.keys(views).filter(
  (n) => words.length === 0 || words.some((w) => n.includes(w)),
);

const names = isDocs ? [] : chosen;
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
const faults = [];
for (const name of names) {
  const path = join(folder, `${name}.html`);
  writeFileSync(path, await toHtml(views[name]));
  for (const colorScheme of themes) {
    for (const width of widths) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      page.on("pageerror", ({ message }) => faults.push(`${name}: ${message}`));
      await page.goto(pathToFileURL(path).href);
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      // What a long page shows first is what is looked at.
      const height = Math.min(
        1800,
        await page.evaluate(() => document.documentElement.scrollHeight),
      );
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) });
      await context.close();
    }
  }
  console.log(name);
}
const shownInDocs = isDocs ? { ...views, ...(await forDocuments()) } : {};
for (const [name, act] of isDocs ? Object.entries(documented) : []) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  const path = join(folder, `${name}.html`);
  writeFileSync(path, await toHtml(shownInDocs[name]));
  const viewport = { width: 1080, height: 900 };
  const page = await browser.newPage({ viewport, deviceScaleFactor: 1.5 });
  await page.goto(pathToFileURL(path).href);
  await act(page);
  await page.mouse.move(0, 0);
  const height = Math.min(1600, await page.evaluate(() => document.documentElement.scrollHeight));
  await page.setViewportSize({ width: 1080, height });
  await page.waitForTimeout(500); // lanes move to their places
  await page.screenshot({
    path: fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url)),
  });
  await page.close();
}
await browser.close();

const figure = (name, theme, width) =>
  `<figure><figcaption>${theme}, ${width} px</figcaption><a href="${name}-${theme}-${width}.png"><img loading="lazy" alt="${name}, ${theme}, ${width} px" src="${name}-${theme}-${width}.png"></a></figure>`;
const sections = names.map(
  (name) =>
    `<h2><a href="${name}.html">${name}</a></h2><div>${themes.flatMap((theme) => widths.map((width) => figure(name, theme, width))).join("")}</div>`,
);
writeFileSync(
  join(folder, "index.html"),
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Views</title><style>body{font:14px system-ui;margin:16px}div{display:grid;grid-template-columns:7fr 3.3fr 2fr;gap:12px;align-items:start}figure{margin:0}img{width:100%;border:1px solid #999}</style><h1>Every view, ${themes.join(" and ")}</h1>${sections.join("")}</html>\n`,
);
console.log(join(folder, "index.html"));
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
