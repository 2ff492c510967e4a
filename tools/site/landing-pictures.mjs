// Takes the pictures of the landing page in Chromium, in both themes: `node tools/site/landing-pictures.mjs SITE`,
// where SITE was written by `npm run site`. They go to apps/site/landing/pictures, those of the tab to docs/images.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Policy, rollout, score, tasks, taskTools, world } from "../../dist/src/api/index.js";
import { entropyRibbon, toSvg } from "../../dist/src/api/view.js";
import { launchChromium } from "../../dist/tests/tab/browsers/chromium.js";
import { ready, shown } from "../../dist/tests/tab/lab-page.js";
import { StaticHost } from "../../dist/tests/tab/static-host.js";
import { root } from "../tab/bundle.mjs";

const [site] = process.argv.slice(2);
if (site === undefined) throw new TypeError("usage: node tools/site/landing-pictures.mjs SITE");
const out = join(root, "apps/site/landing/pictures");
mkdirSync(out, { recursive: true });

/** Entropy around the first tool result, of what the shipped model writes. */
async function figure() {
  const policy = await Policy.load(join(root, "data/models/tiny"));
  const tools = taskTools(world);
  const prompts = tasks.mixed({ seed: 7 }).test.slice(0, 6);
  const trees = await rollout(policy, prompts, { preset: "arpo", tools, n: 16, seed: 1 });
  const scored = await score(trees);
  await tools.dispose();
  return (theme) => toSvg(entropyRibbon(trees, { scored, theme, width: 900 }));
}

const host = await StaticHost.start(resolve(site));
const browser = await launchChromium();
const view = await figure();
for (const colorScheme of ["light", "dark"]) {
  const end = colorScheme === "dark" ? "-dark" : "";
  const context = await browser.newContext({
    ...{ colorScheme, viewport: { width: 1180, height: 720 } },
  });
  /** As WebP, 900 pixels wide, which needs no more than a canvas. All that the page loads has room in 300 kB. */
  const keep = async (page, name, clip, quality = 0.5) => {
    const png = (await page.screenshot({ clip })).toString("base64");
    const helper = await context.newPage();
    const webp = await helper.evaluate(
      async ([text, quality]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${text}`;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [900, Math.round((900 * image.height) / image.width)];
        const pen = canvas.getContext("2d");
        pen.imageSmoothingQuality = "high";
        pen.drawImage(image, 0, 0, canvas.width, canvas.height);
        return canvas.toDataURL("image/webp", quality).split(",")[1];
      },
      [png, quality],
    );
    await helper.close();
    writeFileSync(join(out, `${name}${end}.webp`), Buffer.from(webp, "base64"));
  };
  const page = await context.newPage();
  await page.goto(host.url);
  await page.click("[data-play]");
  await page.fill("#tree [data-change=probability]", "0.35");
  await page.waitForTimeout(800);
  const box = await page.locator("#tree .ax-bar").boundingBox();
  await keep(page, "decision", { x: box.x - 8, y: box.y - 8, width: box.width + 16, height: 600 });
  await page.setContent(
    `<body style="margin:0;display:grid;place-items:center;height:708px;background:${colorScheme === "dark" ? "#12151c" : "#fff"}">${await view(colorScheme)}`,
  );
  await keep(page, "figure", { x: 0, y: 0, width: 1180, height: 708 });
  await page.setViewportSize({ width: 1180, height: 787 });
  await page.goto(`${host.url}lab.html`);
  await ready(page);
  await shown(page, "founding year of Lerum");
  await page.locator(".jp-RenderedSVG").first().scrollIntoViewIfNeeded();
  await page.evaluate(() =>
    document.querySelector(".jp-RenderedSVG").closest(".jp-Cell").scrollIntoView(),
  );
  await page.waitForTimeout(1500);
  await keep(page, "lab", { x: 0, y: 0, width: 1180, height: 787 }, 0.35);
  if (colorScheme === "light") {
    const images = (name) => ({ path: join(root, `docs/images/${name}.png`) });
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.waitForTimeout(1500);
    await page.screenshot(images("tab-desktop"));
    // What a link to the page shows: at least 1200 x 630.
    await page.setViewportSize({ width: 1200, height: 630 });
    await page.goto(`${host.url}loop.html`);
    await page.click(".al-acts button:nth-child(3)");
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(out, "loop.png") });
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.goto(`${host.url}explore.html`);
    await page.click("#examples >> text=ARPO's trees");
    await page.waitForSelector("#views .ax-scroll");
    await page
      .locator("#views .arpo-explorer")
      .first()
      .evaluate((view) => view.scrollIntoView());
    await page.waitForTimeout(800);
    await page.screenshot(images("tab-explorer"));
    const phone = await browser.newContext({
      ...{ viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, hasTouch: true },
    });
    const small = await phone.newPage();
    await small.goto(`${host.url}read/00-tour.html`);
    await small.waitForTimeout(800);
    await small.screenshot(images("tab-phone"));
    await small.goto(`${host.url}explore.html`);
    await small.tap("#examples >> text=ARPO's trees");
    await small.waitForSelector("#views .ax-scroll");
    await small
      .locator("#views .arpo-explorer")
      .first()
      .evaluate((view) => view.scrollIntoView());
    await small.waitForTimeout(800);
    await small.screenshot(images("tab-explorer-phone"));
    await phone.close();
  }
  await context.close();
}
await browser.close();
host.stop();
