// Links in sentences that point into the picture nearby: they choose what is looked at, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { packagePath } from "#platform/modules";
import type { Page } from "playwright-core";
import { explore } from "../../src/view/explorer/explore.js";
import { theLoop } from "../../src/view/loop/the-loop.js";
import { sampleTree } from "../../src/view/testing/sample-tree.js";
import { onPage, skip } from "./explorer-page.js";

const tree = await sampleTree({ seed: 1 });
const other = await sampleTree({ seed: 3 });
const loop = await theLoop(packagePath("data/loop.json"));
const say = (href: string) => `<p><a href="${href}">here</a></p>`;
const last = tree.trajectories.length - 1;
const node = tree.nodes.findLastIndex(({ kind, tokens }) => kind === "model" && tokens.length > 1);
const html =
  `<!doctype html><meta charset="utf-8"><body>${say("#loop&act=2")}${loop.html()}${say("#loop&step=24")}` +
  `${say(`#explorer&t=${last}`)}${explore(tree).html()}${say(`#explorer&node=${node}&token=1`)}` +
  `<div style="height:3000px"></div>${explore(other).html()}${say("#explorer&t=1")}` +
  `${say("#explorer&t=99999&node=-1&token=x")}${say("#explorer")}${say("#elsewhere")}${say("#loop&act=9&step=1e9")}`;

const press = (page: Page, href: string) => page.click(`a[href="${href}"]`);
const told = (page: Page, place: number) =>
  page.locator(".arpo-explorer .ax-body").nth(place).textContent();

test("a link lights up a lane, a token or an act of the nearest picture", { skip }, async () => {
  await onPage(html, async (page) => {
    await press(page, "#loop&act=2");
    await page.waitForSelector(".al-acts [aria-current=step]:has-text('Branch')");
    await press(page, "#loop&step=24");
    await page.waitForSelector(".al-say:has-text('After 24 updates')");
    const before = await told(page, 1);
    await press(page, `#explorer&t=${last}`);
    assert.match((await told(page, 0)) ?? "", new RegExp(`^Trajectory ${last}`));
    await press(page, `#explorer&node=${node}&token=1`);
    assert.match(
      (await told(page, 0)) ?? "",
      new RegExp(`^Trajectory ${tree.nodes[node]!.trajectory}`),
    );
    assert.equal(await told(page, 1), before, "the other tree stays as it was");
    await press(page, "#explorer&t=1");
    assert.match((await told(page, 1)) ?? "", /^Trajectory 1/);
    assert.equal(new URL(page.url()).hash, "", "the page's address stays as it was");
    // From the keyboard.
    await page.focus('a[href="#loop&act=2"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector(".al-acts [aria-current=step]:has-text('Branch')");
  });
});

test("a link that says nonsense, or something else, changes nothing", { skip }, async () => {
  await onPage(html, async (page) => {
    await press(page, "#explorer&t=1");
    const before = await told(page, 1);
    for (const href of ["#explorer&t=99999&node=-1&token=x", "#explorer", "#loop&act=9&step=1e9"])
      await press(page, href);
    assert.equal(await told(page, 1), before);
    await press(page, "#elsewhere");
    assert.equal(new URL(page.url()).hash, "#elsewhere", "links of the page stay links");
  });
});
