// The page that measures training in a browser, in Chromium, from a plain host below a path.
import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import type { TrainingFigure } from "../../tools/bench/page/measure-training.js";
import { temporaryFolder } from "../temporary.js";
import { launchChromium } from "./browsers/chromium.js";
import { StaticHost } from "./static-host.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const { writeBenchmarkPage } = (await import(
  new URL("../../../tools/bench/page/write-page.mjs", import.meta.url).href
)) as { writeBenchmarkPage: (out: string) => Promise<void> };

test("a tab trains two models on each wasm build, and gives figures to copy", async () => {
  const out = temporaryFolder("benchmark-page");
  await writeBenchmarkPage(out);
  mkdirSync(join(out, "package/native"), { recursive: true });
  for (const name of ["arpo.wasm", "arpo-relaxed.wasm"]) {
    cpSync(join(root, "native", name), join(out, "package/native", name));
  }
  const host = await StaticHost.start(out);
  const browser = await launchChromium();
  try {
    const context = await browser.newContext();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (line) => {
      const told = line.text().startsWith("arpo-lab: tensors on");
      if (line.type() === "error" && !told) faults.push(line.text());
    });
    await page.goto(`${host.url}benchmark.html?seconds=0.1`);
    await page.waitForSelector("body[data-ready]");
    await page.click("#start");
    await page.waitForSelector("#result:not([hidden])", { timeout: 600_000 });
    await page.click("#copy");
    await page.waitForFunction(() => document.querySelector("#status")?.textContent === "Copied.");
    const text = await page.evaluate(() => navigator.clipboard.readText());
    const { figures, leftOut, cores } = JSON.parse(text) as {
      figures: TrainingFigure[];
      leftOut: { backend: string; reason: string }[];
      cores: number;
    };
    const kinds = figures.map(({ size, backend }) => `${backend} ${size}`);
    assert.deepEqual(
      kinds,
      ["wasm small", "wasm large", "wasm-relaxed small", "wasm-relaxed large"],
      text,
    );
    for (const { tokensPerSecond, milliseconds, share, limits } of figures) {
      assert.ok(tokensPerSecond > 0 && milliseconds > 0 && limits.gflops > 0, text);
      assert.ok(share > 0 && share < 1.5, text);
    }
    // Headless Chromium has no card.
    assert.deepEqual(
      leftOut.map(({ backend }) => backend),
      ["webgpu"],
    );
    assert.ok(cores > 0);
    assert.equal(await page.locator("#rows tr").count(), figures.length);
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
    host.stop();
  }
});
