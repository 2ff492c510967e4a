// Every view and figure on light and dark pages, as a reader of the page and of its keyboard meets it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { toHtml } from "../../src/api/view.js";
import { everyView } from "../../src/view/testing/every-view.js";
import { browserPath } from "./browser.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const skip = browserPath === undefined && "no Chromium on this machine";
const folder = mkdtempSync(join(tmpdir(), "arpo-views-"));
const pages = new Map<string, string>();
let browser: Browser;

before(async () => {
  if (skip !== false) return;
  browser = await chromium.launch({ executablePath: browserPath!, args: ["--no-sandbox"] });
  for (const [name, view] of Object.entries(await everyView())) {
    const path = join(folder, `${name}.html`);
    writeFileSync(path, await toHtml(view as Parameters<typeof toHtml>[0]));
    pages.set(name, pathToFileURL(path).href);
  }
});
after(async () => {
  if (skip === false) await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

// A view is a part of a page, which has its own landmarks and headings.
const rules = ["region", "landmark-one-main", "page-has-heading-one", "heading-order"];
const options = JSON.stringify({
  resultTypes: ["violations"],
  rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: false }])),
});

for (const theme of ["light", "dark"] as const) {
  test(
    `every view passes axe on a ${theme} page, and none scrolls it sideways`,
    { skip },
    async () => {
      const faults: string[] = [];
      const page = await (await browser.newContext({ colorScheme: theme })).newPage();
      let shown = "";
      page.on("pageerror", ({ message }) => faults.push(`${shown}: ${message}`));
      for (const [name, url] of pages) {
        shown = name;
        // What fits a phone fits wider pages.
        await page.setViewportSize({ width: 390, height: 900 });
        await page.goto(url);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) faults.push(`${name} scrolls sideways by ${wide} px`);
        await page.setViewportSize({ width: 660, height: 900 });
        await page.evaluate(axe);
        const found = (await page.evaluate(
          `axe.run(document, ${options}).then(({ violations }) => violations.map(({ id, nodes }) => id + " (" + nodes.length + "): " + nodes.slice(0, 3).map(({ html, any, all }) => html.slice(0, 140) + " " + ((any[0] ?? all[0])?.message ?? "")).join(" | ")))`,
        )) as string[];
        faults.push(...found.map((fault) => `${name}, ${fault}`));
      }
      await page.context().close();
      assert.deepEqual(faults, []);
    },
  );
}

test(
  "the reasons of scores are read without scrolling, on phones and in cells",
  { skip },
  async () => {
    const page = await browser.newPage();
    for (const width of [390, 660, 1200]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(pages.get("scored")!);
      const cut = await page.evaluate(
        `[...document.querySelectorAll(".arpo-scored td")].filter((cell) => (cell.querySelector("summary") ?? cell).getBoundingClientRect().right > innerWidth).length`,
      );
      assert.equal(cut, 0, `cells that ${width} px cut`);
      const read = page.locator(".arpo-scored summary").first();
      await read.click();
      const box = await page.locator(".arpo-scored details pre").first().boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= width, JSON.stringify(box));
    }
    await page.close();
  },
);

test(
  "on a phone the texts of pictures are large enough, and titles are whole",
  { skip },
  async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 900 } });
    const faults: string[] = [];
    for (const [name, url] of pages) {
      await page.goto(url);
      // Curves bring the board's picture.
      const drawn = ["figure-reward-curves", "figure-compare-runs"].includes(name)
        ? ".arpo-curves [data-narrow] svg"
        : ".plotly .gtitle";
      if (name.startsWith("figure-")) await page.waitForSelector(drawn);
      const found =
        (await page.evaluate(`[...document.querySelectorAll("svg text")].flatMap((text) => {
      const { left, right, height } = text.getBoundingClientRect();
      if (/^\\d*$/.test(text.textContent) || height === 0) return []; // numbers of marks say in words what they are, too
      const cut = text.closest(".gtitle,.g-gtitle,.g-xtitle,.arpo-curves") && (left < 0 || right > innerWidth);
      return height < 7.5 || cut ? [text.textContent + ": " + [left, right, height].map(Math.round)] : [];
    })`)) as string[];
      faults.push(...found.map((fault) => `${name}, ${fault}`));
    }
    await page.close();
    assert.deepEqual(faults, []);
  },
);

test("a sign that has a colour has a mark too, which the legend names", { skip }, async () => {
  const page = await browser.newPage();
  for (const name of ["credit", "tokens", "explain", "batch", "report"]) {
    await page.goto(pages.get(name)!);
    const marks = page.locator("[data-token].arpo-less");
    // A trajectory that lost is not the first of every view.
    if (name === "credit") await page.locator(".arpo-bar select").first().selectOption("4");
    await marks.first().waitFor({ state: "attached" });
    const style = await marks.first().evaluate((one) => getComputedStyle(one).borderTopStyle);
    assert.equal(style, "dotted", name);
    const legend = await page.locator(".arpo-legend").first().textContent();
    assert.match(legend ?? "", /dotted above: (less likely|discouraged)/, name);
  }
  // In the credit view the numbers say whether the marks are right.
  await page.goto(pages.get("credit")!);
  const lines =
    (await page.evaluate(`[...document.querySelectorAll("tr[data-line]")].map((line) => [
    Number(line.querySelector("output").textContent.replace("−", "-")) < 0,
    line.querySelector(".arpo-at").classList.contains("arpo-less"),
  ])`)) as [boolean, boolean][];
  for (const [isNegative, isMarked] of lines) assert.equal(isMarked, isNegative);
  assert.ok(lines.some(([is]) => is) && lines.some(([is]) => !is));
  await page.close();
});

test(
  "bars stand below each other, and no line of a legend ends inside a mark's words",
  { skip },
  async () => {
    const page = await browser.newPage({ viewport: { width: 660, height: 900 } });
    await page.goto(pages.get("scored")!);
    const lefts = await page.evaluate(
      `[...new Set([...document.querySelectorAll(".arpo-bar-of")].map((bar) => Math.round(bar.getBoundingClientRect().left)))]`,
    );
    assert.equal((lefts as number[]).length, 1, String(lefts));
    assert.doesNotMatch((await page.textContent(".arpo-title")) ?? "", /-\d/);
    for (const name of ["credit", "explain", "report", "teacher"]) {
      for (const width of [390, 660]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(pages.get(name)!);
        await page.locator(".arpo-mark-key").first().waitFor();
        const cut = await page.evaluate(
          `[...document.querySelectorAll(".arpo-mark-key .arpo-less")].filter((mark) => mark.getClientRects().length !== 1).length`,
        );
        assert.equal(cut, 0, `${name} at ${width} px`);
      }
    }
    // What the policy's token is worth says nothing of the word that the teacher would have written.
    const told = await page.locator(".arpo-token div").allTextContents();
    assert.match(told[0]!, /^the policy wrote: gap .* entropy /);
    assert.match(told[1]!, /^the teacher's first choice, where it is another: ".*"$/);
    await page.close();
  },
);
