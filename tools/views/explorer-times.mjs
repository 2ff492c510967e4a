// How long pages of the explorer take, in wall-clock and in CPU time of the page's main thread: until the tree is
// there, and for each scroll, arrow key, zoom and change of a slider. `node tools/views/explorer-times.mjs` makes the
// pages of 64 x 2,000 and 256 x 500 tokens; files that it is given are measured beside them, in turns, so that a
// page of an earlier version can be compared: `node tools/views/explorer-times.mjs OLD.html`.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const from = (path) => import(new URL(`../../dist/${path}`, import.meta.url).href);
const { browserPath } = await from("tests/view/browser.js");
const { manyTrajectories } = await from("src/view/testing/large-tree.js");
const { explore, toHtml } = await from("src/api/view.js");
if (browserPath === undefined)
  throw new Error("Cannot measure the explorer: Chromium must be installed, got none");

const folder = mkdtempSync(join(tmpdir(), "arpo-explorer-times-"));
const files = process.argv.slice(2).map((file) => resolve(file));
for (const [count, tokens] of [
  [64, 2000],
  [256, 500],
]) {
  const path = join(folder, `${count}x${tokens}.html`);
  writeFileSync(path, await toHtml(explore(await manyTrajectories(count, tokens))));
  files.unshift(path);
}

/** In the page: what one interaction is, by its name, for explorers of any version. */
const acts = `(() => {
  const canvas = document.querySelector(".ax-scroll") ?? document.querySelector("canvas");
  const scroller = document.querySelector(".ax-scroll, .arpo-scroll");
  const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const zoom = (name) => document.querySelector("[aria-label='" + name + "']")?.click() ??
    [...document.querySelectorAll("button")].find((one) => one.textContent === name)?.click();
  window.acts = {
    scroll: (i) => (scroller.scrollTop = i * 20),
    select: () => press("ArrowDown"),
    zoom: (i) => zoom(i % 6 < 3 ? "zoom in" : "zoom out"),
    whatIf: (i) => {
      let slider = document.querySelector("[data-change=probability]");
      if (!slider) {
        press("w");
        slider = document.querySelector("[data-change=probability]");
      }
      slider.value = String((i % 10) / 10);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
})()`;
const settled = () =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1] ?? NaN;

const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
const found = new Map(files.map((file) => [file, {}]));
for (let turn = 0; turn < 3; turn++) {
  for (const file of files) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    /** CPU seconds of the main thread in scripts, layout, style and other tasks. */
    const cpu = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration").value;
    };
    const note = (what, wall, used) => {
      const own = (found.get(file)[what] ??= { wall: [], cpu: [] });
      own.wall.push(wall);
      own.cpu.push(used * 1000);
    };
    const began = await cpu();
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => performance.getEntriesByName("arpo-explorer").length > 0);
    await page.evaluate(settled);
    const opened = await page.evaluate(
      () => performance.getEntriesByName("arpo-explorer")[0].startTime,
    );
    note("opens", opened, (await cpu()) - began);
    await page.evaluate(acts);
    for (const what of ["scroll", "select", "zoom", "whatIf"]) {
      for (let i = 0; i < 12; i++) {
        const before = await cpu();
        const wall = await page.evaluate(
          async ([name, n]) => {
            const start = performance.now();
            globalThis.acts[name](n);
            await new Promise((done) => requestAnimationFrame(done));
            await new Promise((done) => {
              const { port1, port2 } = new MessageChannel();
              port1.onmessage = done;
              port2.postMessage(0);
            });
            return performance.now() - start;
          },
          [what, i],
        );
        await page.evaluate(settled);
        note(what, wall, (await cpu()) - before);
      }
    }
    await page.close();
  }
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(
  "medians in ms: wall-clock to the next frame / CPU of the main thread until it is idle",
);
for (const [file, times] of found) {
  const told = Object.entries(times).map(
    ([what, { wall, cpu }]) => `${what} ${median(wall).toFixed(0)} / ${median(cpu).toFixed(0)}`,
  );
  console.log(`${basename(file)}: ${told.join(", ")}`);
}
