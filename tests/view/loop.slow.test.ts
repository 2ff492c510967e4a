// The loop in a browser: it plays by itself once, follows keys and buttons, and is read in both themes at every width.
import assert from "node:assert/strict";
import { test } from "node:test";
import { packagePath } from "#platform/modules";
import type { Page } from "playwright-core";
import { toHtml } from "../../src/view/export/to-html.js";
import { theLoop } from "../../src/view/loop/the-loop.js";
import { drawn, kept, onPage, skip, textOf, violations } from "./explorer-page.js";

const html = toHtml(await theLoop(packagePath("data/loop.json")));
const act = (page: Page) => page.textContent(".al-acts [aria-current=step]");
const updates = async (page: Page) => Number(await page.inputValue(".al-curve input"));
const picture = (page: Page) =>
  page.$eval(".al-tree canvas", (canvas) => (canvas as HTMLCanvasElement).toDataURL());
const still = { reducedMotion: "reduce" } as const;

test("it begins to move within 1.5 s, and plays all four acts once", { skip }, async () => {
  await onPage(html, async (page) => {
    const first = await picture(page);
    await page.evaluate(() => {
      const seen: string[] = [];
      const box = document.querySelector(".al-acts")!;
      const note = () => {
        const now = box.querySelector("[aria-current=step]")?.textContent ?? "";
        if (now !== seen.at(-1)) seen.push(now);
        document.body.dataset["seen"] = seen.join();
      };
      note();
      new MutationObserver(note).observe(box, { attributes: true, subtree: true });
    });
    await page.waitForFunction(
      (before) =>
        document.querySelector<HTMLCanvasElement>(".al-tree canvas")!.toDataURL() !== before,
      first,
      { timeout: 1500 },
    );
    await page.waitForFunction(
      () => document.querySelector(".al-say")!.textContent!.startsWith("After 24 updates: "),
      undefined,
      { timeout: 45_000 },
    );
    const seen = await page.getAttribute("body", "data-seen");
    assert.equal(seen, "1Hesitate,2Branch,3Compare,4Learn", "each once");
    assert.match(await textOf(page, ".al-say"), /fresh tries are right/);
    await page.waitForSelector(".al-train .ax-button:has-text('Train')");
  });
});

test("keys 1 to 4 and arrows choose acts and updates; buttons do the same", { skip }, async () => {
  await onPage(html, async (page) => {
    await page.focus(".al-tree canvas");
    const pictures = new Set<string>();
    for (const [key, name] of [
      ["1", "1Hesitate"],
      ["2", "2Branch"],
      ["3", "3Compare"],
      ["4", "4Learn"],
    ]) {
      await page.keyboard.press(key!);
      await drawn(page);
      assert.equal(await act(page), name);
      pictures.add(await picture(page));
    }
    assert.equal(pictures.size, 4, "each act looks its own way");
    for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    await drawn(page);
    assert.equal(await updates(page), 1);
    await page.click(".al-acts button:nth-child(2)");
    await page.keyboard.press("ArrowRight");
    await drawn(page);
    assert.equal(await act(page), "3Compare");
    await page.fill(".al-curve input", "24");
    await drawn(page);
    const share = await page.$$eval(".ax-words .ax-number", (all) =>
      all.map((one) => one.textContent),
    );
    assert.match(share[0]!, /^9\d%$/);
    await page.click(".al-train .ax-button");
    await drawn(page);
    assert.equal(await textOf(page, ".al-train .ax-button"), "❚❚ Pause");
    await page.click(".al-train .ax-button");
    const at = await updates(page);
    await page.waitForTimeout(700);
    assert.ok((await updates(page)) <= at + 1, "a pause holds it");
  });
});

test("with reduced motion it shows its end at once and stays there", { skip }, async () => {
  await onPage(
    html,
    async (page) => {
      await drawn(page);
      assert.equal(await updates(page), 24);
      assert.equal(await act(page), "4Learn");
      const end = await picture(page);
      await page.waitForTimeout(800);
      assert.equal(await picture(page), end);
    },
    still,
  );
});

test("the address says what is seen, and a link leads back to it", { skip }, async () => {
  await onPage(html, async (page) => {
    await page.click(".al-acts button:nth-child(3)");
    assert.equal(new URL(page.url()).hash, "#act=3");
    await page.fill(".al-curve input", "8");
    assert.equal(new URL(page.url()).hash, "#step=8");
    await page.reload();
    await drawn(page);
    assert.equal(await updates(page), 8);
    assert.equal(await act(page), "4Learn");
  });
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1400, 660, 390, 320]) {
    test(
      `the loop passes axe and fits at ${width} px on a ${colorScheme} page`,
      { skip },
      async () => {
        await onPage(
          html,
          async (page) => {
            for (let i = 1; i <= 4; i++) {
              await page.click(`.al-acts button:nth-child(${i})`);
              await drawn(page);
              assert.deepEqual(await violations(page), [], `act ${i}`);
              if (i > 2) await kept(page, `loop-${width}-${colorScheme}-${i}`);
            }
            const wide = await page.evaluate(
              () => document.documentElement.scrollWidth - innerWidth,
            );
            assert.ok(wide <= 0, `the page scrolls sideways by ${wide} px`);
            if (width > 400) return;
            const small = await page.$$eval(".ax button, .ax input", (all) =>
              all
                .filter((one) => one.getBoundingClientRect().height < 43.5)
                .map((one) => one.outerHTML),
            );
            assert.deepEqual(small, [], "what is touched is at least 44 px tall");
          },
          { viewport: { width, height: 900 }, colorScheme, hasTouch: width < 400, ...still },
        );
      },
    );
  }
}
