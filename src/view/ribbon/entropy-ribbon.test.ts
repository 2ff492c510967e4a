import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "../../reward/score-trees.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { toSvg } from "../export/to-svg.js";
import { sampleTree } from "../testing/sample-tree.js";
import { entropyRibbon } from "./entropy-ribbon.js";
import { ribbonMeans, ribbonRows } from "./ribbon-rows.js";

async function someTrees(): Promise<RolloutTree[]> {
  // Made one by one: all of them are tree 0 of their rollout.
  return Promise.all([1, 2, 4].map((seed) => sampleTree({ seed })));
}

const scoresOf = (trees: RolloutTree[]) =>
  score(trees as Parameters<typeof score>[0], ({ length = 0 }) => ({
    score: (length % 3) - 1,
    reason: "by length",
  }));

test("lines are what the model wrote, aligned on the first tool result, sorted by outcome", async () => {
  const trees = await someTrees();
  const { rows, without } = ribbonRows(trees, await scoresOf(trees));
  const all = trees.reduce((sum, { trajectories }) => sum + trajectories.length, 0);
  assert.equal(rows.length + without, all);
  assert.ok(without > 0 && rows.length > 5);
  for (const { entropies, zero, results, own, branch } of rows) {
    assert.ok(zero > 0 && zero <= entropies.length && own <= entropies.length);
    assert.ok(results.every((at) => at >= 0));
    assert.equal(branch, branch === undefined ? undefined : own - zero);
  }
  const outcomes = rows.map(({ outcome }) => ["right", "wrong", "invalid format"].indexOf(outcome));
  assert.deepEqual(outcomes, [...outcomes].sort());
  assert.ok(new Set(outcomes).size === 3);
});

test("the mean counts every token once, and its interval is over prompts", async () => {
  const trees = await someTrees();
  const { rows } = ribbonRows(trees, undefined);
  const means = ribbonMeans(rows, -3, 12);
  assert.ok(means.length > 5);
  for (const { offset, mean, tokens } of means) {
    // By hand: each node of each tree once, by its distance from the first result on its path.
    const byPrompt = trees.map((tree) =>
      tree.nodes.flatMap((node) => {
        if (node.kind !== "model") return [];
        const leaves = tree.trajectories.filter(({ leaf }) =>
          tree.path(leaf).some(({ id }) => id === node.id),
        );
        for (const { leaf } of leaves) {
          const path = tree.path(leaf);
          const first = path.findIndex(({ kind }) => kind === "tool");
          if (first < 0) continue;
          const count = (list: typeof path) =>
            list.reduce((sum, n) => sum + (n.kind === "model" ? n.tokens.length : 0), 0);
          const start = count(path.slice(0, path.indexOf(node))) - count(path.slice(0, first));
          const entropy = node.entropies[offset - start];
          return entropy === undefined ? [] : [entropy];
        }
        return [];
      }),
    );
    assert.equal(tokens, byPrompt.flat().length, `tokens at ${offset}`);
    const own = byPrompt.filter((list) => list.length > 0);
    const expected =
      own.reduce((sum, list) => sum + list.reduce((a, b) => a + b, 0) / list.length, 0) /
      own.length;
    assert.ok(Math.abs(mean - expected) < 1e-6, `mean at ${offset}: ${mean}, expected ${expected}`);
  }
});

test("in a page the picture has the page's colours, unless a theme is chosen", async () => {
  const trees = await someTrees();
  const inPage = entropyRibbon(trees).html();
  assert.match(inPage, /fill="var\(--picture-ink,#15181e\)"/);
  assert.match(inPage, /prefers-color-scheme:dark\)\{\.arpo-ribbon\{[^}]*--picture-ink:#eceff4/);
  assert.match(inPage, /\[data-jp-theme-light=false\] \.arpo-ribbon/);
  assert.doesNotMatch(entropyRibbon(trees, { theme: "dark" }).html(), /fill="var/);
});

test("the picture has the width that was asked for, its texts as text and its fonts by name", async () => {
  const trees = await someTrees();
  const scored = await scoresOf(trees);
  const pictures = new Set<string>();
  for (const width of [317, 672, 900]) {
    for (const theme of ["light", "dark"] as const) {
      const svg = toSvg(entropyRibbon(trees, { scored, width, theme }));
      assert.match(svg, new RegExp(`^<svg [^>]*width="${width}"`));
      assert.match(svg, /font-family='Inter,/);
      assert.doesNotMatch(svg, /NaN|undefined|Infinity|<image|var\(/);
      const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);
      for (const word of ["right", "wrong", "tokens", "entropy"]) {
        assert.ok(
          texts.some((text) => text.startsWith(word)),
          `${width}: ${word}`,
        );
      }
      const sizes = [...svg.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => Number(size));
      assert.ok(Math.min(...sizes) >= 8, `the least text has ${Math.min(...sizes)} px`);
      // No text runs out of the picture.
      for (const [, attributes, text] of svg.matchAll(/<text ([^>]*)>([^<]*)</g)) {
        if (attributes!.includes("text-anchor")) continue;
        const x = Number(/x="([\d.-]+)"/.exec(attributes!)![1]);
        assert.ok(x + 4.6 * text!.length <= width + 4, `${width}: ${text} at ${x}`);
      }
      pictures.add(svg);
    }
  }
  assert.equal(pictures.size, 6);
});

test("what is decided is a panel of its own, and only where it was measured", async () => {
  const trees = await someTrees();
  const decided = [0, 1, 2, 3].map((distance) => ({
    ...{ distance, tokens: 9 },
    decided: {
      value: 0.1 * distance,
      low: 0.05 * distance,
      high: distance === 3 ? undefined : 0.4,
    },
  }));
  assert.match(toSvg(entropyRibbon(trees, { decided })), />n = 36 tokens; band: 95% interval</);
  assert.doesNotMatch(toSvg(entropyRibbon(trees)), /Variance/);
});

test("one prompt has no interval, many lines are thinned, and the caption says so", async () => {
  const [tree] = await someTrees();
  assert.match(entropyRibbon(tree!).summary, /of one prompt.*one prompt gives no interval/);
  const many = entropyRibbon(Array.from({ length: 90 }, () => tree!));
  assert.match(many.summary, /400 lines are drawn, evenly chosen/);
});

test("entropyRibbon() refuses what has no tool result, and what is no tree", async () => {
  const bare = await sampleTree({ seed: 1, n: 1, initialRollouts: 1, tools: undefined });
  assert.throws(
    () => entropyRibbon(bare),
    /^RangeError: Cannot draw an entropy ribbon: a trajectory must have a tool result, got 1 without one$/,
  );
  assert.throws(() => entropyRibbon({} as never), /tree must be a rollout tree/);
  assert.throws(
    () => entropyRibbon(bare, { width: 100 }),
    /width must be a number from 240 to 4000/,
  );
});
