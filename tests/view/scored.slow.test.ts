// A scored set in a browser: a search by text, expression, tool, end and score leaves the rows that it finds.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { toHtml } from "../../src/api/view.js";
import { score } from "../../src/reward/score-trees.js";
import { sampleTree } from "../../src/view/testing/sample-tree.js";
import { onPage, skip, textOf, violations } from "./explorer-page.js";

const tree = await sampleTree({ seed: 1, n: 24, initialRollouts: 8 });
const scored = await score(tree, ({ length }) => ({ score: length % 3, reason: `mark ${length}` }));
const html = toHtml(scored);
const rows = scored.trajectories;
const shown = (page: Page) =>
  page.$$eval(".arpo-scored .arpo-wide tbody tr", (all) =>
    all.flatMap((row, i) => ((row as HTMLElement).hidden ? [] : [i])),
  );
const found = (is: (row: (typeof rows)[number]) => boolean) =>
  rows.flatMap((row, i) => (is(row) ? [i] : []));

test(
  "a search leaves the rows with the text, tool, end and score that are looked for",
  { skip },
  async () => {
    await onPage(html, async (page) => {
      assert.equal((await shown(page)).length, rows.length);
      await page.fill("[data-choose=least]", "2");
      assert.deepEqual(
        await shown(page),
        found(({ score: { score: value } }) => value >= 2),
      );
      await page.fill("[data-choose=least]", "");
      const [first] = rows;
      await page.fill("[data-choose=words]", first!.score.reason);
      const withReason = await shown(page);
      assert.ok(withReason.includes(0) && withReason.length < rows.length);
      await page.fill("[data-choose=words]", "/mark \\d*[02468]\\b/");
      const even = found(({ trajectory }) => trajectory.tokens.length % 2 === 0);
      for (const i of even) assert.ok((await shown(page)).includes(i));
      await page.fill("[data-choose=words]", "/(/");
      assert.equal(await textOf(page, "output[data-count]"), "not a regular expression");
      await page.fill("[data-choose=words]", "");
      const end = first!.trajectory.end;
      await page.selectOption("[data-choose=end]", end);
      assert.deepEqual(
        await shown(page),
        found(({ trajectory }) => trajectory.end === end),
      );
      assert.match(
        await textOf(page, "output[data-count]"),
        new RegExp(`of ${rows.length} trajectories`),
      );
      await page.selectOption("[data-choose=end]", "");
      const tool = rows.flatMap(({ trajectory }) => trajectory.toolCalls.map(({ tag }) => tag))[0]!;
      await page.selectOption("[data-choose=tool]", tool);
      assert.deepEqual(
        await shown(page),
        found(({ trajectory }) => trajectory.toolCalls.some(({ tag }) => tag === tool)),
      );
      assert.deepEqual(await violations(page), []);
    });
  },
);
