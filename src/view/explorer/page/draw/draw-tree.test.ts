import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { designTokens, entropyRamps } from "../../../../../common/picture/palette.js";
import { packagePath } from "#platform/modules";
import type { LoopPayload } from "../../../loop/payload.js";
import { summaryOf } from "../tree/header-words.js";
import { escapeHtml } from "../../../../../common/picture/escape.js";
import { grpoBatch } from "../../../testing/sample-batch.js";
import { signed } from "../../../page/words.js";
import { sampleReport } from "../../../testing/sample-report.js";
import { makePayload } from "../../make-payload.js";
import { layOut } from "../layout/layout.js";
import { ownSettings, replayOf } from "../tree/shown-replay.js";
import { factsOf } from "../tree/tree-facts.js";
import { unpackTree } from "../tree/unpack-tree.js";
import { drawLegend } from "./draw-legend.js";
import { drawTree } from "./draw-tree.js";
import { measureOf, quantitiesOf, type Quantity } from "./measures.js";
import { BinCache, type Scene } from "./scene.js";
import { svgPainter } from "../../../draw/svg-painter.js";
import { heatSteps, type Theme } from "../../../draw/theme.js";

const { light } = designTokens;
const theme: Theme = {
  ...light,
  ...{ ink2: light["ink-2"], ink3: light["ink-3"], lineStrong: light["line-strong"] },
  ...{ accentSoft: light["accent-soft"], toolSoft: light["tool-soft"] },
  ...{ toolLine: light["tool-line"], wrongSoft: light["wrong-soft"] },
  heat: Array.from({ length: heatSteps }, (_, i) => entropyRamps.light[Math.floor(i / 3)]!),
};

async function sampleScene(quantity: Quantity = "entropy", width = 1000): Promise<Scene> {
  const { tree, scored, batch } = await grpoBatch();
  await sampleReport({}, batch);
  // A teacher who finds every second token of the model half as likely.
  for (const row of batch.trajectories)
    row.teacherLogprobs = row.oldLogprobs!.map((p, t) => p - (t % 2) * Math.LN2);
  const facts = factsOf(unpackTree(makePayload(tree, { scored, batch })));
  const replay = replayOf(facts.tree, ownSettings(facts.tree));
  const layout = layOut(facts, {
    ...{ width, maxHeight: 590, filter: "all", align: "turns", lanes: "auto", zoom: 1 },
    ...{ unfolded: new Set(), replay },
  });
  const measure = measureOf(facts.tree, quantity, "sqrt");
  const { totalWidth, left, gutter, totalHeight } = layout;
  return {
    ...{
      facts,
      layout,
      measure,
      theme,
      replay,
      bins: new BinCache(facts, measure),
      heat: undefined,
    },
    ...{ selected: -1, token: -1, path: 0, compared: 1, hoveredMark: -1, focusedMark: -1 },
    ...{ pill: undefined, passed: undefined, unfolded: new Set(), moment: undefined },
    view: { x: 0, y: 0, width: left + totalWidth + gutter, height: totalHeight },
    yOf: ({ y }) => y,
  };
}

const drawn = (scene: Scene) => {
  const painter = svgPainter();
  drawTree(painter, scene);
  return painter.parts.join("");
};

test("an exported tree holds its texts as text and every trajectory's number", async () => {
  const scene = await sampleScene();
  const svg = drawn(scene);
  const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);
  for (let i = 0; i < scene.facts.tree.trajectories.length; i++)
    assert.ok(texts.includes(String(i)));
  for (const word of ["Turn 1", "score", "advantage"]) assert.ok(texts.includes(word), word);
  assert.doesNotMatch(svg, /NaN|undefined|Infinity|<image|<script/);
  assert.equal(svg.match(/<g /g)!.length, svg.match(/<\/g>/g)!.length);
});

test("words above the bars stand on no chip, and that of a fault in front of it on a narrow page", async () => {
  const placed = (svg: string, of: RegExp) =>
    [...svg.matchAll(of)].map(({ index, 0: all, 1: text = "" }) => {
      const at = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(all)?.[1]);
      return { all, text, index, x: at("x"), y: at("y"), wide: at("width"), tall: at("height") };
    });
  for (const width of [1000, 660, 390]) {
    const svg = drawn(await sampleScene("entropy", width));
    const chips = placed(svg, /<rect [^>]*>/g).filter(({ all }) => all.includes(theme.toolLine));
    const words = placed(svg, /<text [^>]*font-size="11"[^>]*>([^<]*)<\/text>/g).filter(({ all }) =>
      all.includes("mono"),
    );
    assert.ok(chips.length > 0 && words.length > 0);
    assert.ok(words[0]!.index > chips.at(-1)!.index);
    for (const word of words.filter(({ all }) => !all.includes(theme.wrong))) {
      const end = word.x + 0.602 * 11 * word.text.length;
      const on = chips.filter(
        ({ x, y, wide, tall }) =>
          word.x < x + wide && x < end && word.y > y - 4 && word.y < y + tall + 8,
      );
      assert.deepEqual(on, [], `${word.text} at ${width} px`);
    }
  }
});

test("the numbers of the legend's scale stand free of the line below", async () => {
  const painter = svgPainter();
  drawLegend(await sampleScene(), painter, 400, 0);
  const lines = [
    ...painter.parts.join("").matchAll(/<text [^>]*? y="([\d.]+)"[^>]*font-size="(\d+)"/g),
  ];
  const at = (size: string) => lines.filter((line) => line[2] === size).map(([, y]) => Number(y));
  const [numbers, names] = [at("10"), at("11")];
  assert.ok(numbers.length > 1 && Math.max(...names) > Math.max(...numbers));
  const below = Math.min(...names.filter((y) => y > numbers[0]!));
  assert.ok(below - numbers[0]! > 12, `${numbers[0]} ${below}`);
});

test("every quantity is drawn, signed ones up and down from the middle", async () => {
  const { facts } = await sampleScene();
  const pictures = new Set<string>();
  for (const quantity of quantitiesOf(facts.tree)) {
    const svg = drawn(await sampleScene(quantity));
    assert.doesNotMatch(svg, /NaN/);
    pictures.add(svg);
  }
  assert.equal(pictures.size, 5);
});

test("the gap to a teacher is ln p of the teacher less that of the policy, where the model wrote", async () => {
  const { facts } = await sampleScene();
  const { level, ticks, sides } = measureOf(facts.tree, "gap", "sqrt");
  facts.tree.nodes.forEach(({ kind, start, length }, node) => {
    for (let t = start; t < start + length; t++) {
      const said = level(t, node);
      if (kind === "tool") assert.ok(Number.isNaN(said));
      else assert.ok(Number.isNaN(said) || Math.abs(said) < 1e-5 || Math.abs(said + 1) < 1e-5);
    }
  });
  assert.equal(ticks[0]![1], signed(-Math.LN2));
  assert.match(sides![1], /less likely under the teacher/);
});

test("entropy reads in order on every scale, and percentiles are shares of the tokens", async () => {
  const { facts } = await sampleScene();
  const { entropies } = facts.tree;
  const known = [...entropies.keys()].filter((i) => entropies[i]! > 0);
  for (const scale of ["sqrt", "linear", "percentile"] as const) {
    const { level } = measureOf(facts.tree, "entropy", scale);
    const sorted = [...known].sort((a, b) => entropies[a]! - entropies[b]!);
    const levels = sorted.map((token) => level(token, 0));
    levels.slice(1).forEach((x, i) => assert.ok(x >= levels[i]! && x <= 1));
  }
  const { level } = measureOf(facts.tree, "entropy", "percentile");
  const half = known.filter((token) => level(token, 0) <= 0.5).length / known.length;
  assert.ok(half > 0.3 && half < 0.7, `${half} of the tokens are in the lower half`);
});

test("a playback's beginning shows less, and its end the same picture as without it", async () => {
  const scene = await sampleScene();
  const nodes = scene.facts.tree.nodes.length;
  const moment = {
    ...{ at: 0.5, born: new Float32Array(nodes).fill(1), scored: 2, advanced: 3 },
    laneBorn: new Float32Array(scene.facts.tree.trajectories.length),
    decided: new Map<number, number>(),
  };
  assert.ok(drawn({ ...scene, moment }).length < drawn(scene).length / 2);
  const end = { ...moment, at: 9, laneBorn: moment.laneBorn.fill(-9) };
  assert.equal(drawn({ ...scene, moment: end }), drawn(scene));
});

test("which word, why it branched and what is right are drawn without a hover, at fit zoom", () => {
  const { tree: payload } = JSON.parse(
    readFileSync(packagePath("data/loop.json"), "utf8"),
  ) as LoopPayload;
  const picture = (width: number) => {
    const facts = factsOf(unpackTree(payload));
    const replay = replayOf(facts.tree, ownSettings(facts.tree));
    const layout = layOut(facts, {
      ...{ width, maxHeight: 590, filter: "all", align: "turns", lanes: "auto", zoom: 1 },
      ...{ unfolded: new Set(), replay },
    });
    const measure = measureOf(facts.tree, "entropy", "sqrt");
    const { totalWidth, left, gutter, totalHeight } = layout;
    const scene: Scene = {
      ...{ facts, layout, measure, theme, replay, bins: new BinCache(facts, measure) },
      ...{ heat: undefined, selected: -1, token: -1, path: -1, compared: -1 },
      ...{ hoveredMark: -1, focusedMark: -1, pill: undefined, passed: undefined },
      ...{ unfolded: new Set<number>(), moment: undefined, yOf: ({ y }) => y },
      view: { x: 0, y: 0, width: left + totalWidth + gutter, height: totalHeight },
    };
    const svg = drawn(scene);
    const texts = [...svg.matchAll(/>([^<]*)<\/text>/g)].map(([, text]) => text!);
    const gauges = svg.split(`stroke="${theme.ink}" stroke-width="1.8"`).length - 1;
    return { facts, replay, texts, gauges, summary: summaryOf(facts, replay) };
  };
  for (const width of [1400, 660]) {
    const { facts, replay, texts, gauges, summary } = picture(width);
    const truth = payload.truth!;
    assert.match(truth, /^\d+$/);
    assert.ok(summary.startsWith(`the right answer is ${truth}`), summary);
    const faults = facts.faults.filter((fault) => fault !== undefined);
    assert.ok(faults.length >= 3);
    for (const { text } of faults) {
      const shown = escapeHtml(text.trim());
      assert.ok(texts.includes(shown), `${width}: ${shown} of ${texts.join(" ")}`);
    }
    assert.ok(texts.filter((text) => text === truth).length >= 2, "the right answer in its lanes");
    assert.ok(replay.chances.size >= 4);
    assert.equal(gauges, replay.chances.size, `${width}: a gauge at each decision`);
    if (width > 1000)
      assert.ok(
        texts.some((text) => /^= \d+$/.test(text)),
        "a fact in a chip",
      );
  }
});
