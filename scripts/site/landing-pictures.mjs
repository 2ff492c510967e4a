// Takes the pictures of the landing page in Chromium, in both themes: `node scripts/site/landing-pictures.mjs SITE`,
// where SITE was written by `npm run site`. They go to src/landing-page/pictures.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  advantages,
  Policy,
  rollout,
  score,
  tasks,
  taskTools,
  update,
  world,
} from "../../dist/src/api/index.js";
import { clipComparison } from "../../dist/src/api/view.js";
import { launchChromium } from "../../dist/tests/tab/browsers/chromium.js";
import { ready, shown } from "../../dist/tests/tab/lab-page.js";
import { StaticHost } from "../../dist/tests/tab/static-host.js";
import { root } from "../tab/bundle.mjs";

const [site] = process.argv.slice(2);
if (site === undefined) throw new TypeError("usage: node scripts/site/landing-pictures.mjs SITE");
const out = join(root, "src/landing-page/pictures");
mkdirSync(out, { recursive: true });

/** What lesson 00's update does to the tokens of its tree. */
async function figure() {
  const policy = await Policy.load(join(root, "data/models/tiny"));
  const tools = taskTools(world);
  const options = {
    preset: "arpo",
    tools,
    n: 16,
    initialRollouts: 8,
    responseLength: 160,
    seed: 1,
  };
  const tree = await rollout(policy, tasks.mixed({ seed: 3 }).train[0], options);
  const batch = advantages(await score(tree), { estimator: "grpo" });
  await update(policy, batch, { preset: "aepo", learningRate: 5e-4, epochs: 2 });
  await tools.dispose();
  const view = clipComparison(batch, { tokenizer: policy.tokenizer });
  return view.html();
}

const host = await StaticHost.start(resolve(site));
const browser = await launchChromium();
const view = await figure();
for (const colorScheme of ["light", "dark"]) {
  const end = colorScheme === "dark" ? "-dark" : "";
  const context = await browser.newContext({
    ...{ colorScheme, viewport: { width: 1180, height: 720 } },
  });
  /** As WebP, 900 pixels wide, which needs no more than a canvas. */
  const keep = async (page, name, clip) => {
    const png = (await page.screenshot({ clip })).toString("base64");
    const helper = await context.newPage();
    const webp = await helper.evaluate(async (text) => {
      const image = new Image();
      image.src = `data:image/png;base64,${text}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [900, Math.round((900 * image.height) / image.width)];
      const pen = canvas.getContext("2d");
      pen.imageSmoothingQuality = "high";
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL("image/webp", 0.72).split(",")[1];
    }, png);
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
    `<meta name="color-scheme" content="light dark"><body style="margin:16px;background:Canvas;color:CanvasText">${view}`,
  );
  await page.waitForTimeout(800);
  await page.evaluate(() => scrollTo(0, 0));
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
  await keep(page, "lab", { x: 0, y: 0, width: 1180, height: 787 });
  await context.close();
}
await browser.close();
host.stop();
