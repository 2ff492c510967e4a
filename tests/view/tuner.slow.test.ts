// The clip tuner in a browser: sliders, choices and keys, in both themes, on a phone; no text of a batch is code.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { toHtml } from "../../src/view/export/to-html.js";
import { explore } from "../../src/view/explorer/explore.js";
import { sampleReport } from "../../src/view/testing/sample-report.js";
import { clipTuner } from "../../src/view/tokens/tuner/clip-tuner.js";
import { drawn, kept, onPage, skip, textOf, violations } from "./explorer-page.js";

const report = await sampleReport();
const batch = report.batch;
// Ratios that leave the bounds on either side, by a rule of their own.
const current = batch.trajectories.map(({ trajectory, oldLogprobs }) =>
  trajectory.logprobs.map((p, t) => (oldLogprobs?.[t] ?? p) + 0.6 * Math.sin(t)),
);
const tuner = clipTuner(batch, { current });
const html = toHtml(tuner);
const lost = async (page: Page) =>
  Number(/^[\d,]+/.exec(await textOf(page, ".at-said"))![0].replace(",", ""));
const chart = (page: Page) => page.innerHTML(".at-chart");
/** Moves a setting as a reader does, and waits until the picture follows. */
async function set(page: Page, name: string, value: string): Promise<void> {
  const at = `[data-setting=${name}]`;
  if (await page.$eval(at, (one) => one.tagName === "SELECT")) await page.selectOption(at, value);
  else await page.fill(at, value);
  await drawn(page);
}

test(
  "sliders and choices say which tokens lose their gradient, and lead back",
  { skip },
  async () => {
    await onPage(html, async (page) => {
      const [first, picture] = [await lost(page), await chart(page)];
      assert.match(await textOf(page, ".at-code"), /loss: "vanilla", clipRatioLow: 0\.2/);
      await set(page, "high", "2");
      await set(page, "low", "1");
      const wide = await lost(page);
      assert.ok(wide < first, `${wide} ${first}`);
      await set(page, "high", "0");
      await set(page, "low", "0");
      assert.ok((await lost(page)) > first);
      assert.notEqual(await chart(page), picture);
      assert.match(await textOf(page, ".at-code"), /clipRatioLow: 0, clipRatioHigh: 0/);
      assert.ok((await page.locator(".arpo-lost[data-token]").count()) > 0);
      await set(page, "loss", "gpg");
      assert.equal(await lost(page), 0, "a loss without a clip");
      assert.ok(await page.isDisabled("[data-setting=low]"));
      await set(page, "weights", "token");
      assert.match(
        await textOf(page, ".at-code"),
        /rolloutCorrection: \{ weights: "token", threshold: 2 \}/,
      );
      await page.click("[data-reset]");
      await drawn(page);
      assert.equal(await lost(page), first);
      assert.equal(await chart(page), picture);
    });
  },
);

test(
  "keys move sliders and tokens, and a token says why it has no gradient",
  { skip },
  async () => {
    await onPage(html, async (page) => {
      await page.focus("[data-setting=high]");
      await page.keyboard.press("Home");
      await drawn(page);
      assert.equal(await page.inputValue("[data-setting=high]"), "0");
      await page.locator(".arpo-lost[data-token]").first().click();
      assert.match(await textOf(page, ".arpo-token"), /no gradient: (above|below|beyond)/);
      await page.focus(".arpo-text");
      const before = await textOf(page, ".arpo-token");
      for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
      assert.notEqual(await textOf(page, ".arpo-token"), before);
    });
  },
);

test(
  "it passes axe in both themes at every width, and a phone shows all of it",
  { skip },
  async () => {
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1400, 660, 390])
        await onPage(
          html,
          async (page) => {
            await page.setViewportSize({ width, height: 900 });
            await set(page, "reject", "token_k2");
            await kept(page, `tuner-${colorScheme}-${width}`);
            assert.deepEqual(await violations(page), []);
            const wide = await page.evaluate(
              () => document.documentElement.scrollWidth - innerWidth,
            );
            assert.ok(wide <= 0, `${width}: ${wide}`);
          },
          { colorScheme },
        );
  },
);

test("a page may hold a tuner beside a tree", { skip }, async () => {
  const tree = batch.scored!.trees[0]!;
  const both = `<body>${explore(tree).html()}${tuner.html()}</body>`;
  await onPage(both, async (page) => {
    await set(page, "high", "0");
    assert.ok((await lost(page)) > 0);
  });
});
