// Three questions that the picture answers by itself: which trajectory was right, where it branched and why,
// and what would change at probability 0.2.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { designTokens } from "../../common/picture/palette.js";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { folder, kept, onPage, pageOf, skip } from "./explorer-page.js";

/** The picture on the page as its SVG: what a reader sees, without the page's own memory of it. */
async function pictureOf(page: Page): Promise<string> {
  await page.click(".ax-popover:last-child > button");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click("[data-export=svg]"),
  ]);
  const path = join(folder, "asked.svg");
  await download.saveAs(path);
  return readFileSync(path, "utf8");
}

/** The tree itself, without what stands above and the legend below. */
const bodyOf = (svg: string) =>
  svg.slice(svg.indexOf('<g transform="translate(0 '), svg.lastIndexOf("</g>"));

/** The trajectories' numbers in a picture, by the middle of their lanes. */
function lanesOf(tree: string): { trajectory: number; y: number }[] {
  return [
    ...tree.matchAll(
      /<text x="[\d.-]+" y="([\d.]+)" font-size="([\d.]+)"[^>]*text-anchor="end"[^>]*>(\d+)<\/text>/g,
    ),
  ].map(([, y, size, number]) => ({
    trajectory: Number(number),
    y: Number(y) - 0.35 * Number(size),
  }));
}

const nearest = (lanes: ReturnType<typeof lanesOf>, y: number) =>
  lanes.reduce((a, b) => (Math.abs(b.y - y) < Math.abs(a.y - y) ? b : a)).trajectory;

const { right, accent } = designTokens.light;

test(
  "the picture alone tells which trajectory was right, where it branched and why, and what 0.2 would change",
  { skip },
  async () => {
    const { tree, scored, batch } = await grpoBatch();
    await onPage(
      pageOf(tree, { scored, batch }),
      async (page) => {
        const body = bodyOf(await pictureOf(page));
        const lanes = lanesOf(body);
        assert.deepEqual(
          lanes.map(({ trajectory }) => trajectory).sort((a, b) => a - b),
          tree.trajectories.map(({ id }) => id),
        );
        // Which was right: the lanes with a tick on a green ground.
        const ticks = [
          ...body.matchAll(/<circle cx="[\d.]+" cy="([\d.]+)" r="[\d.]+" fill="([^"]+)"/g),
        ];
        const told = ticks
          .filter(([, , fill]) => fill === right)
          .map(([, y]) => nearest(lanes, Number(y)));
        const truly = scored.trajectories
          .filter(({ score }) => score.score > 0.5)
          .map(({ trajectory }) => trajectory.id);
        assert.deepEqual(
          [...new Set(told)].sort((a, b) => a - b),
          [...new Set(truly)].sort((a, b) => a - b),
        );

        // Where it branched: a diamond in the lane of the trajectory that was left.
        const diamonds = [...body.matchAll(/<path d="M[\d.]+ ([\d.]+)L[^"]*z" fill="([^"]+)"/g)]
          .filter(([, , fill]) => fill === accent)
          .map(([, y]) => Number(y));
        const left = tree.trajectories
          .filter(({ kind }) => kind === "branch")
          .map(({ from }) => from);
        const points = [...new Set(left)];
        assert.equal(diamonds.length, points.length);
        const parents = points.map((node) => Math.max(0, tree.nodes[node]!.trajectory));
        assert.deepEqual(
          // A diamond is drawn around the middle of its lane, from its highest point on.
          diamonds.map((y) => nearest(lanes, y + 5)).sort((a, b) => a - b),
          parents.sort((a, b) => a - b),
        );

        // Why: at each decision, in words, with the numbers of the rollout.
        await page.focus(".ax-scroll");
        const decided = tree.nodes.filter(({ branch = [] }) => branch.length > 0).length;
        let branched = 0;
        for (let i = 0; i < decided; i++) {
          await page.keyboard.press("b");
          for (const words of await page.locator(".ax-decision").allTextContents()) {
            const [, probability, draw, outcome] =
              /probability ([\d.]+), drew ([\d.]+) → (branched|no branch)/.exec(words) ?? [];
            assert.equal(
              Number(draw) <= Number(probability) ? "branched" : "no branch",
              outcome,
              words,
            );
            if (outcome === "branched") branched++;
          }
        }
        assert.equal(branched, left.length);
        await kept(page, "explorer-why");

        // What would change at probability 0.2: dashed branches for what would be new, a count of both.
        await page.keyboard.press("w");
        await page.$eval("[data-change=probability]", (slider) => {
          (slider as HTMLInputElement).value = "0.2";
          slider.dispatchEvent(new Event("input"));
        });
        const asked = await pictureOf(page);
        const replay = tree.replay({ probability: 0.2 });
        assert.equal(asked.match(/>new branch</g)?.length ?? 0, replay.unseen);
        const made = tree.trajectories.filter(({ kind }) => kind === "branch").length;
        assert.ok(
          asked.includes(
            `${replay.branches} ${replay.branches === 1 ? "branch" : "branches"} with your settings (the rollout made ${made})`,
          ),
        );
        assert.notEqual(replay.branches, made);
        await kept(page, "explorer-at-0.2");
      },
      { acceptDownloads: true },
    );
  },
);
