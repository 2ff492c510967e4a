// A tree under the checkpoints of a run, in a browser: the slider, its keys, a link, both themes and a phone; and the board's.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { board } from "../../src/view/board/board.js";
import { toHtml } from "../../src/view/export/to-html.js";
import { explore } from "../../src/view/explorer/explore.js";
import { sampleRunFolder } from "../../src/view/testing/sample-run-folder.js";
import { temporaryFolder } from "../temporary.js";
import { drawn, kept, onPage, skip, textOf, violations } from "./explorer-page.js";

const path = temporaryFolder("over-run-page");
const { tree, scored, batch } = await sampleRunFolder(path);
const html = toHtml(await explore(tree, { scored, batch, over: path }));
const picture = (page: Page) =>
  page.$eval(".ax-spacer canvas", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
const words = (page: Page) =>
  page.$$eval(".ax-cards .ax-number", (all) => all.map((one) => one.textContent));
const still = { reducedMotion: "reduce" } as const;

test(
  "the slider draws bars, words, ratios and decisions anew under each policy, and leads back",
  { skip },
  async () => {
    await onPage(
      html,
      async (page) => {
        const before = [await picture(page), await words(page)] as const;
        assert.match(await textOf(page, ".ax-policies p"), /as it was sampled · 5 policies/);
        await page.fill("[data-policy]", "4");
        await drawn(page);
        assert.match(
          await textOf(page, ".ax-policies p"),
          /after step 4.*against as it was sampled: .*[×÷]/,
        );
        assert.notEqual(await picture(page), before[0]);
        assert.notDeepEqual(await words(page), before[1]);
        assert.match(page.url(), /#.*policy=4/);
        await page.click("[aria-label='Earlier policy']");
        await page.focus(".ax-scroll");
        await page.keyboard.press("[");
        await drawn(page);
        assert.equal(await page.inputValue("[data-policy]"), "2");
        for (let i = 0; i < 4; i++) await page.keyboard.press("[");
        await drawn(page);
        assert.equal(
          await picture(page),
          before[0],
          "the policy that sampled it draws it as it was",
        );
        assert.deepEqual(await words(page), before[1]);
      },
      still,
    );
  },
);

test(
  "bars move between policies, not with reduced motion; a link opens a policy",
  { skip },
  async () => {
    await onPage(html, async (page) => {
      const seen = await page.evaluate(async () => {
        const canvas = document.querySelector<HTMLCanvasElement>(".ax-spacer canvas")!;
        const range = document.querySelector<HTMLInputElement>("[data-policy]")!;
        range.value = "4";
        range.dispatchEvent(new Event("input"));
        const pictures = new Set<string>();
        for (let frame = 0; frame < 60; frame++) {
          await new Promise((next) => requestAnimationFrame(next));
          pictures.add(canvas.toDataURL());
        }
        return pictures.size;
      });
      assert.ok(seen > 2, `${seen} pictures on the way`);
      await page.reload();
      await page.waitForFunction(
        () => document.querySelector<HTMLInputElement>("[data-policy]")?.value === "4",
      );
    });
  },
);

test(
  "the slider passes axe in both themes at every width, and a phone shows all of it",
  { skip },
  async () => {
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1400, 660, 390])
        await onPage(
          html,
          async (page) => {
            await page.setViewportSize({ width, height: 900 });
            await page.fill("[data-policy]", "3");
            await drawn(page);
            await kept(page, `over-${colorScheme}-${width}`);
            assert.deepEqual(await violations(page), []);
            const wide = await page.evaluate(
              () => document.documentElement.scrollWidth - innerWidth,
            );
            assert.ok(wide <= 0, `${width}: ${wide}`);
          },
          { ...still, colorScheme },
        );
  },
);

test(
  "the board's slider keeps one tree and goes through the run's policies",
  { skip },
  async () => {
    const made = await toHtml(board(path, { over: true }));
    await onPage(
      made,
      async (page) => {
        await page.check("[data-same]");
        const question = await textOf(page, ".ax-question");
        await page.fill("[data-scrub]", "0");
        await drawn(page);
        assert.equal(await textOf(page, ".ax-question"), question);
        assert.match(await textOf(page, ".ax-policies p"), /after step 1/);
        await page.fill("[data-scrub]", "3");
        await drawn(page);
        assert.match(await textOf(page, ".ax-policies p"), /after step 4/);
        await kept(page, "over-board");
        assert.deepEqual(await violations(page), []);
        await page.uncheck("[data-same]");
        assert.match(await textOf(page, ".ax-policies p"), /as it was sampled/);
      },
      still,
    );
  },
);
