// What the figures are, kept as files: their JSON, and the picture drawn where plotly is not. To accept
// a change: ARPO_LAB_SNAPSHOTS=write npm test -- tests/view
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { formatValue } from "../../kernel/display/format.js";
import { Random } from "../../src/base/random/random.js";
import { UpdateReport } from "../../src/learn/update/update-report.js";
import { palettes, type Theme } from "../../common/picture/palette.js";
import * as view from "../../src/api/view.js";
import { metricTitle } from "../../src/view/figures/curves.js";
import type { Figure } from "../../src/view/figures/figure.js";
import { grpoBatch } from "../../src/view/testing/sample-batch.js";
import { sampleReport } from "../../src/view/testing/sample-report.js";

const folder = fileURLToPath(new URL("../../../tests/view/snapshots/", import.meta.url));
const write = process.env["ARPO_LAB_SNAPSHOTS"] === "write";
if (write) mkdirSync(folder, { recursive: true });

/** A made-up run: rising scores with noise. */
function run(seed: number, rise: number) {
  const random = Random.from(seed);
  return Array.from({ length: 30 }, (_, i) => {
    const mean = 0.2 + rise * (1 - Math.exp(-i / 10)) + 0.03 * random.normal();
    return { step: i + 1, "critic/score/mean": mean, "critic/score/max": Math.min(1, mean + 0.3) };
  });
}

const figures: Record<string, (theme?: Theme) => Promise<Figure> | Figure> = {
  entropyTree: async (theme) => view.entropyTree((await grpoBatch()).tree, { theme }),
  branchTimeline: async (theme) => view.branchTimeline((await grpoBatch()).tree, { theme }),
  entropyProfile: async (theme) => view.entropyProfile((await grpoBatch()).tree, { theme, k: 5 }),
  tokenEntropy: async (theme) =>
    view.tokenEntropy((await grpoBatch()).tree.selected[3]!, { theme }),
  advantageHeat: async (theme) => view.advantageHeat((await grpoBatch()).batch, { theme }),
  clipScatter: async (theme) => view.clipScatter(await sampleReport(), { theme }),
  toolUse: async (theme) => view.toolUse([(await grpoBatch()).tree], { theme }),
  rewardCurves: (theme) => view.rewardCurves(run(1, 0.6), { theme }),
  compareRuns: (theme) =>
    view.compareRuns(
      {
        arpo: [1, 2, 3].map((seed) => run(seed, 0.6)),
        grpo: [4, 5, 6].map((seed) => run(seed, 0.45)),
      },
      { theme },
    ),
  passAtKCurve: (theme) =>
    view.passAtKCurve(
      {
        arpo: [5, 3, 0, 8].map((correct) => ({ n: 8, correct })),
        grpo: [4, 2, 1, 8].map((correct) => ({ n: 8, correct })),
      },
      { theme },
    ),
};

/** Numbers to six digits: nothing depends on the machine. */
const normalised = (figure: Figure): string =>
  JSON.stringify(
    figure,
    (_, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(6)) : value),
    1,
  ) + "\n";

function compare(name: string, text: string): void {
  const path = join(folder, name);
  if (write) writeFileSync(path, text);
  assert.ok(existsSync(path), `${name} must be there: write it with ARPO_LAB_SNAPSHOTS=write`);
  assert.equal(text, readFileSync(path, "utf8"));
}

for (const [name, make] of Object.entries(figures)) {
  test(`${name}() draws what its snapshots show`, async () => {
    const figure = await make();
    compare(`${name}.json`, normalised(figure));
    compare(`${name}.svg`, view.toSvg(figure));
  });

  test(`${name}() is known to the kernel, in every theme, with words`, async () => {
    for (const theme of ["auto", "light", "dark", "colour-blind"] as const) {
      const figure = await make(theme);
      const bundle = await formatValue(figure);
      // Curves bring the board's picture.
      const form = ["rewardCurves", "compareRuns"].includes(name)
        ? "image/svg+xml"
        : "application/vnd.plotly.v1+json";
      assert.ok(bundle?.[form]);
      assert.match(view.describe(figure), /\d.*\.$/s);
      const { font, colorway } = figure.layout;
      const { ink, series } = palettes[theme];
      assert.deepEqual(font, ink === undefined ? undefined : { color: ink });
      assert.deepEqual(colorway, series);
    }
  });
}

test("board() draws what its snapshot shows", async () => {
  const lines = (seed: number, rise: number) =>
    run(seed, rise).map((line, i) => ({
      ...line,
      "reward/format/mean": 1 - 0.5 / (i + 1),
      "reward/f1_score/mean": line["critic/score/mean"] / 2,
      "actor/entropy_loss": 1 / (i + 2),
    }));
  const runs = { arpo: [1, 2, 3].map((seed) => lines(seed, 0.6)), grpo: lines(4, 0.45) };
  compare("board.svg", (await view.board(runs).bundle())["image/svg+xml"]!);
});

test("compareRuns() gives the mean and Student's interval, and refuses runs without the metric", () => {
  const seeds = [0.2, 0.4, 0.9].map((value) => [{ step: 1, "critic/score/mean": value }]);
  const [mean, low, high] = view.compareRuns({ a: seeds }).data.map((trace) => trace["y"]);
  assert.deepEqual(mean, [0.5]);
  // By hand: s = sqrt(0.13), t(2) = 4.303.
  const half = 4.303 * Math.sqrt(0.13 / 3);
  assert.ok(Math.abs((high as number[])[0]! - 0.5 - half) < 1e-9);
  assert.ok(Math.abs((low as number[])[0]! - 0.5 + half) < 1e-9);
  assert.throws(() => view.compareRuns({ a: seeds }, { metric: "none" }), RangeError);
  assert.throws(() => view.rewardCurves([{ step: 1 }]), RangeError);
});

/** The labels of a picture's vertical axis; the last one is a step. */
const labels = (picture: string) =>
  [...picture.matchAll(/text-anchor="end"[^>]*>([\d.−]+)</g)]
    .map(([, label]) => label!)
    .slice(0, -1);

test("a band of what is never negative begins at 0", () => {
  const seeds = [0.01, 0.02, 0.9].map((entropy) =>
    [1, 2].map((step) => ({ step, "actor/entropy_loss": entropy / step })),
  );
  const figure = view.compareRuns({ a: seeds }, { metric: "actor/entropy_loss" });
  const shown = labels(view.toSvg(figure));
  assert.equal(shown[0], "0");
  assert.ok(shown.length > 2 && shown.every((label) => !label.startsWith("−")), shown.join());
});

test("bands of scores stay within what a score can be; curves without news are a line of text", () => {
  const seeds = [0.2, 0.4, 0.9].map((value) =>
    [1, 2, 3].map((step) => ({
      step,
      "critic/score/mean": value + step / 100,
      loss: value * step,
    })),
  );
  const bounded = labels(view.toSvg(view.compareRuns({ a: seeds })));
  assert.deepEqual([bounded[0], bounded.at(-1)], ["0", "1"]);
  const free = labels(view.toSvg(view.compareRuns({ a: seeds }, { metric: "loss" })));
  assert.ok(
    free.some((label) => label.startsWith("−")),
    "a loss may be anything",
  );
  const run = seeds[0]!.map((line) => ({
    ...line,
    ...{ "critic/score/max": 1, "critic/score/min": 0, "val-core/calc/reward/mean@1": 0.25 },
  }));
  const figure = view.rewardCurves(run);
  const picture = view.toSvg(figure);
  assert.match(picture, /held-out score, calc is 0\.25 at every step\./);
  assert.match(picture, /Band: from the smallest to the greatest score of the step\./);
  assert.match(view.describe(figure), /held-out score, calc is 0\.25 at every step\./);
  assert.match(view.toHtml(figure), /<figure class="arpo-curves"/);
});

test("clipScatter() counts what UpdateReport.tokens() says", async () => {
  const report = await sampleReport();
  assert.ok(report instanceof UpdateReport);
  const tokens = report.batch.trajectories.flatMap((row) => report.tokens(row)).filter((t) => t);
  const { data, layout } = view.clipScatter(report);
  const [low, high, ...marks] = data;
  assert.deepEqual([low!["x"], high!["x"]].flat(), [0.8, 0.8, 1.2, 1.2], "the bounds are drawn");
  assert.equal((layout["xaxis"] as { type: string }).type, "log");
  const drawn = marks.map((trace) => (trace["x"] as number[]).length);
  const regions = ["inside", "above", "below", "dual"];
  assert.deepEqual(
    drawn,
    regions.map((region) => tokens.filter((token) => token!.region === region).length),
  );
  assert.ok(drawn.every((count) => count > 0));
});

test("a metric has words on axes and in descriptions", () => {
  const words: Record<string, string> = {
    "val-core/calc/reward/mean@1": "held-out score, calc",
    "val-core/market/reward/mean@4": "held-out score, market (mean of 4 answers)",
    "val-core/a/b/reward/best@4": "held-out score, a/b (best of 4 answers)",
    "critic/score/max": "greatest score",
    "tools/total_calls": "tools/total_calls",
  };
  for (const [metric, said] of Object.entries(words)) {
    assert.equal(metricTitle(metric), said);
    const figure = view.compareRuns({ a: [[{ step: 1, [metric]: 0.5 }]] }, { metric });
    assert.equal(view.describe(figure), `${said} at the last step: a 0.5 (1 seed, no interval).`);
  }
});
