// The explorer at three widths and in both themes, and with large trees.
import assert from "node:assert/strict";
import { test } from "node:test";
import { manyTrajectories } from "../../src/view/testing/large-tree.js";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { drawn, kept, onPage, pageOf, skip, violations } from "./explorer-page.js";

for (const theme of ["light", "dark"] as const) {
  for (const width of [1400, 660, 390]) {
    test(
      `the explorer passes axe at ${width} px on a ${theme} page, in every tab`,
      { skip },
      async () => {
        const { tree, scored, batch } = await grpoBatch();
        await onPage(
          pageOf(tree, { scored, batch }),
          async (page) => {
            const check = async (what: string) =>
              assert.deepEqual(await violations(page), [], what);
            await check("at first");
            assert.equal(await page.getAttribute(".ax", "data-theme"), theme);
            await page.focus(".ax-scroll");
            await page.keyboard.press("b");
            await kept(page, `explorer-${width}-${theme}`);
            await check("a branch point");
            await page.keyboard.press("ArrowLeft");
            await page.keyboard.press("Enter");
            await check("a token");
            await page.keyboard.press("w");
            await page.selectOption("[data-change=rule]", "arpo-paper");
            await check("What if?");
            await page.focus(".ax-scroll");
            await page.keyboard.press("?");
            await check("keys");
            await page.click(".ax-popover >> nth=0 >> button >> nth=0");
            await check("View");
            await page.keyboard.press("Escape");
            await page.click(".ax-trajectories summary");
            await page.waitForSelector(".ax-trajectories table");
            await page.focus(".ax-scroll");
            await page.keyboard.press(".");
            await check("the table, and playback");
            const wide = await page.evaluate(
              () => document.documentElement.scrollWidth - innerWidth,
            );
            assert.ok(wide <= 0, `the page scrolls sideways by ${wide} px`);
          },
          { viewport: { width, height: 900 }, colorScheme: theme },
        );
      },
    );
  }
}

test("no button of the explorer is cut off, at any width", { skip }, async () => {
  const { tree, scored, batch } = await grpoBatch();
  await onPage(pageOf(tree, { scored, batch }), async (page) => {
    for (let width = 1400; width >= 320; width -= 20) {
      await page.setViewportSize({ width, height: 900 });
      const cut = await page.evaluate(() => {
        const bar = document.querySelector(".ax-bar")!;
        const { right } = bar.getBoundingClientRect();
        return [...bar.querySelectorAll("button, .ax-segments")]
          .filter((part) => part.getClientRects().length > 0)
          .filter(
            (part) =>
              part.scrollWidth > part.clientWidth + 1 ||
              part.getBoundingClientRect().right > right + 1,
          )
          .map((part) => part.ariaLabel ?? part.textContent);
      });
      assert.deepEqual(cut, [], `at ${width} px`);
    }
  });
});

test(
  "at 390 and 320 px whatever is touched is at least 44 px, and the tree is in view",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    for (const width of [390, 320]) {
      await onPage(
        pageOf(tree, { scored, batch }),
        async (page) => {
          await page.focus(".ax-scroll");
          await page.keyboard.press("b");
          await page.keyboard.press(".");
          const small = await page.evaluate(() =>
            [
              ...document.querySelectorAll<HTMLElement>(
                ".ax button, .ax input, .ax select, .ax summary",
              ),
            ]
              .filter((part) => part.getClientRects().length > 0 && !part.closest(".ax-check"))
              .filter((part) => {
                const { width, height } = part.getBoundingClientRect();
                return (
                  width < 43.5 || height < 39.5 || (part.tagName === "BUTTON" && height < 43.5)
                );
              })
              .map(
                (part) =>
                  `${part.className} ${part.ariaLabel ?? part.textContent} ${part.offsetWidth} x ${part.offsetHeight}`,
              ),
          );
          assert.deepEqual(small, [], `at ${width} px`);
          const [wide, seen] = await page.evaluate(() => {
            const { scrollWidth, clientWidth } = document.querySelector(".ax-scroll")!;
            return [scrollWidth, clientWidth];
          });
          assert.ok(wide! <= seen! + 1, `the tree takes ${wide} of ${seen} px`);
          await kept(page, `explorer-touch-${width}`);
        },
        { viewport: { width, height: 800 }, hasTouch: true, isMobile: true },
      );
    }
  },
);

for (const [count, tokens] of [
  [64, 2000],
  [256, 500],
] as const) {
  test(
    `${count} trajectories of ${tokens} tokens scroll, zoom and select; times are printed`,
    { skip },
    async () => {
      const tree = await manyTrajectories(count, tokens);
      await onPage(pageOf(tree), async (page) => {
        const opened = await page.evaluate(
          () => performance.getEntriesByName("arpo-explorer")[0]!.startTime,
        );
        const times = await page.evaluate(async () => {
          const scroller = document.querySelector<HTMLElement>(".ax-scroll")!;
          const frame = () => new Promise<number>((done) => requestAnimationFrame(done));
          const lasts = async (act: () => void) => {
            const from = performance.now();
            act();
            await frame();
            // Frames are painted before the callbacks that ask for the next one.
            await new Promise<unknown>((done) => {
              const { port1, port2 } = new MessageChannel();
              port1.onmessage = done;
              port2.postMessage(0);
            });
            return performance.now() - from;
          };
          const press = (key: string) => () =>
            scroller.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          const all: Record<string, number[]> = { scroll: [], select: [], zoom: [], whatIf: [] };
          for (let i = 0; i < 30; i++) {
            all["scroll"]!.push(await lasts(() => (scroller.scrollTop = i * 20)));
          }
          for (let i = 0; i < 20; i++) all["select"]!.push(await lasts(press("ArrowDown")));
          for (const key of ["+", "+", "+", "-", "-", "0"])
            all["zoom"]!.push(await lasts(press(key)));
          press("w")();
          const slider = document.querySelector<HTMLInputElement>("[data-change=probability]");
          for (let i = 0; slider && i < 10; i++) {
            slider.value = String(i / 10);
            all["whatIf"]!.push(await lasts(() => slider.dispatchEvent(new Event("input"))));
          }
          return all;
        });
        for (const [what, list] of Object.entries(times)) {
          if (list.length === 0) continue;
          const sorted = [...list].sort((a, b) => a - b);
          const at = (share: number) =>
            sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!.toFixed(1);
          console.log(`${count} x ${tokens}: ${what} ${at(0.5)} ms median, ${at(0.95)} ms 95%`);
        }
        console.log(`${count} x ${tokens}: on the page after ${opened.toFixed(0)} ms`);
        assert.ok(await page.isVisible(".ax-minimap"));
        // What is kept from frame to frame is no other picture than one that is drawn anew.
        const picture = async () => {
          await drawn(page);
          return page.$eval(".ax-scroll canvas", (c) => (c as HTMLCanvasElement).toDataURL());
        };
        const scroll = (by: number) =>
          page.$eval(".ax-scroll", (tree, by) => (tree.scrollTop += by), by);
        await page.focus(".ax-scroll");
        for (const key of ["?", "0", "+", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
        const selected = await picture();
        await scroll(37);
        assert.notEqual(await picture(), selected);
        await scroll(-37);
        assert.equal(await picture(), selected);
        // A segment's text follows as it is scrolled, and reaches as far as the token that is selected.
        const length = tokens / 5;
        const shown = () => page.locator(".ax-text [data-token]").count();
        assert.ok((await shown()) < length || length <= 100, `${await shown()} tokens at once`);
        for (let i = 0; i < 20 && (await shown()) < length; i++) {
          await page.$eval(".ax-text", (text) => (text.scrollTop = text.scrollHeight));
          await drawn(page);
        }
        assert.equal(await shown(), length);
        await page.keyboard.press("p");
        assert.equal(await page.locator(".ax-text .ax-on").count(), 1);
        const end = await page.evaluate(async () => {
          const scroller = document.querySelector<HTMLElement>(".ax-scroll")!;
          scroller.scrollTop = scroller.scrollHeight;
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return scroller.scrollTop;
        });
        assert.ok(end > 100, `it scrolls to ${end}`);
        await kept(page, `explorer-${count}x${tokens}`);
      });
    },
  );
}
