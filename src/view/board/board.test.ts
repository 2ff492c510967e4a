import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { studentInterval } from "../../eval/metrics/interval.js";
import { diagnose } from "../../reward/findings/diagnose.js";
import { Scored } from "../../reward/scored.js";
import { saveTrees } from "../../rollout/files/tree-files.js";
import { RunFolder, tuningLayout } from "../../run/folder/run-folder.js";
import type { TrainingRun } from "../../run/trainer/training-run.js";
import { grpoBatch } from "../testing/sample-batch.js";
import { board } from "./board.js";
import { showRunBoard, watchRun } from "./live.js";
import { spreadOut } from "../page/spread-out.js";
import {
  constantWords,
  type CurvePanel,
  drawPanel,
  type PanelView,
  shownCurves,
  smoothed,
} from "../draw/draw-panel.js";
import type { BoardPayload } from "./payload.js";

const lines = (rise: number) =>
  Array.from({ length: 12 }, (_, i) => ({
    step: i + 1,
    "critic/score/mean": rise * i,
    "reward/format/mean": 0.5,
    "reward/f1_score/mean": 0.25,
    "actor/entropy_loss": 1 / (i + 1),
    "timing_s/gen": 2,
    "timing_s/update_actor": 3,
    "val-core/calc/reward/mean@1": i % 4 === 0 ? 0.5 : undefined,
  }));

/** A run as `trainOn` gives it, made of one step's real values. */
async function sampleRun(steps: number): Promise<TrainingRun> {
  const { tree, scored, batch } = await grpoBatch();
  const made = lines(0.1)
    .slice(0, steps)
    .map(({ step, ...metrics }) => ({
      ...{ step, metrics, trees: [tree], scored, batch, timing: { "timing_s/gen": step } },
    }));
  return { trainer: { totalSteps: 12 }, steps: made, validation: [] } as unknown as TrainingRun;
}

/** What a board's HTML carries under a name. */
const carried = (html: string, name: string): unknown =>
  JSON.parse(new RegExp(`data-${name}>(.*?)</script>`, "s").exec(html)![1]!);

test("board() shows each metric's mean over seeds with its 95% interval", async () => {
  const { panels, runs } = await board({
    a: [lines(0.1), lines(0.2), lines(0.6)],
    b: lines(0),
  }).payload();
  assert.deepEqual(
    runs.map(({ name, seeds, steps }) => [name, seeds, steps]),
    [
      ["a", 3, 12],
      ["b", 1, 12],
    ],
  );
  const score = panels.find(({ title }) => title === "Score")!;
  const { mean, half } = studentInterval([0.5, 1, 3]);
  assert.equal(score.curves[0]!.y[5], mean);
  assert.ok(Math.abs(score.curves[0]!.high![5]! - mean - half) < 1e-4);
  assert.ok(Math.abs(score.curves[0]!.low![5]! - mean + half) < 1e-4);
  assert.equal(score.curves[1]!.low, undefined, "one seed has no interval");
  const titles = panels.map(({ title }) => title);
  assert.deepEqual(titles, ["Score", "Held-out score", "Parts of the reward", "Entropy"]);
  assert.deepEqual(panels[1]!.curves[1]!.x, [1, 5, 9]);
});

test("board() tells each finding once, with the steps that have it, and runs none of its text", async () => {
  const run = await sampleRun(3);
  const { scored } = run.steps[0]!;
  const same = scored.trajectories.map((one) => ({
    ...one,
    score: { score: 1, reason: "<script>alert(1)</script>" },
  }));
  const found = diagnose(new Scored(same, scored.trees));
  const steps = run.steps.map((step, i) => ({ ...step, findings: i === 1 ? [] : found }));
  const made = board({ ...run, steps } as unknown as TrainingRun);
  const { findings } = await made.payload();
  const [never] = findings.filter(({ title }) => title === "Rewards that never differ");
  assert.deepEqual([never!.steps, never!.count], [[1, 3], same.length]);
  assert.match(never!.message, /nothing is learned/);
  assert.equal(new Set(findings.map(({ title }) => title)).size, findings.length);
  assert.doesNotMatch(await made.html(), /<script>alert/);
  assert.deepEqual((await board(lines(0.1)).payload()).findings, []);
});

test("board() shows what there is to learn from, and how far the sampler is", async () => {
  const run = [1, 2].map((step) => ({
    step,
    "tree/mixed_outcome_ratio": 0.5,
    "tree/mixed_outcome_ratio_anchors": 0.25,
    "tree/informative_mass": 0.4,
    "tree/credit_spread": 0.1,
    "tree/tokens_per_leaf": 30,
    "filter/generated": 8,
    "filter/dropped": 3,
    "rollout_corr/k3_kl": 0.001,
  }));
  const { panels } = await board(run).payload();
  assert.deepEqual(
    panels.map(({ title, labels }) => [title, ...labels]),
    [
      ["Mixed outcomes", "prompts", "tool answers"],
      ["Credit", "size", "spread in a trajectory"],
      ["Tokens per leaf", "tokens"],
      ["Prompts filtered", "rolled out", "dropped"],
      ["Mismatch with the sampler", "KL"],
    ],
  );
});

test("board() shows how far verl's sampler is from its trainer, by verl's own figures", async () => {
  const run = [1, 2].map((step) => ({
    ...{ step, "training/rollout_probs_diff_mean": 0.01, "training/rollout_probs_diff_max": 0.2 },
  }));
  const { panels } = await board(run).payload();
  const labels = ["difference of p, mean", "difference of p, greatest"];
  assert.deepEqual(
    panels.map(({ title, labels }) => [title, ...labels]),
    [["Mismatch with the sampler", ...labels]],
  );
});

test("board() splits the time of one run, areas one above the other", async () => {
  const { panels, from, to } = await board(lines(0.1)).payload();
  const time = panels.find(({ title }) => title === "Seconds per step")!;
  assert.deepEqual(time.labels, ["rollout", "update"]);
  const view = { from, to, hidden: [] } as unknown as PanelView;
  assert.deepEqual(
    shownCurves(time, view).map(({ y }) => y[0]),
    [2, 5],
  );
});

test("board() reads run folders with their time and their trees", async () => {
  const folder = await mkdtemp(join(tmpdir(), "board-"));
  try {
    const path = join(folder, "toy");
    const run = await RunFolder.open(path);
    const { tree } = await grpoBatch();
    for (const step of [1, 2, 3]) {
      await run.appendMetrics({ step, "critic/score/mean": step / 10 });
      await run.append("timing.jsonl", { step, "timing_s/gen": step });
      if (step > 1) await saveTrees(join(path, "rollouts", `${step}.jsonl`), [tree]);
    }
    const bundle = await board(path).bundle();
    const payload = carried(bundle["text/html"]!, "board") as BoardPayload;
    assert.deepEqual(payload.runs, [{ name: "toy", seeds: 1, steps: 3 }]);
    assert.deepEqual(
      payload.panels.map(({ title }) => title),
      ["Score", "Seconds per step"],
    );
    assert.deepEqual(
      payload.rollouts.map(({ step }) => step),
      [2, 3],
    );
    const kept = carried(bundle["text/html"]!, payload.rollouts[0]!.data) as { nodes: unknown[] };
    assert.equal(kept.nodes.length, tree.nodes.length);
    assert.match(bundle["text/plain"]!, /Score: 0.1 → 0.3/);
    const found = {
      title: "Rewards that never differ",
      message: "nothing is learned",
      where: [1, 2],
    };
    await run.append("findings.jsonl", { step: 2, kind: "all-equal", ...found });
    await run.append("findings.jsonl", { step: 3, kind: "all-equal", ...found, where: [1] });
    await run.append("findings.jsonl", { step: 3, title: 7, message: found.message, where: [] });
    assert.deepEqual((await board(path).payload()).findings, [
      { title: found.title, message: found.message, count: 1, steps: [2, 3] },
    ]);
    await run.appendMetrics({ step: 4, "critic/score/mean": 1 });
    assert.equal((await board(path).payload()).to, 4);
    await assert.rejects(board(join(folder, "none")).payload(), /metrics.jsonl must be there/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("board() reads the folder of fine-tuning, and says where it was stopped", async () => {
  const path = join(await temporaryFolder("arpo-board"), "tuned");
  const log = await RunFolder.own(path, tuningLayout);
  for (const step of [0, 1, 2]) {
    const more = step === 1 ? { evalLoss: 0.7 } : {};
    const figures = { loss: 1 / (step + 1), learningRate: 1e-4, gradientNorm: 2, ...more };
    await log.append(tuningLayout.log, { step, totalSteps: 5, ...figures });
  }
  const running = await board(path).payload();
  assert.deepEqual([running.total, running.to, running.stopped], [5, 3, undefined]);
  assert.deepEqual(running.runs, [{ name: "tuned", seeds: 1, steps: 3 }]);
  const loss = running.panels[0]!;
  assert.deepEqual([loss.title, loss.labels], ["Loss", ["training", "held out"]]);
  assert.deepEqual(
    loss.curves.map(({ x, y }) => [x, y]),
    [
      [
        [1, 2, 3],
        [1, 0.5, 0.33333],
      ],
      [[2], [0.7]],
    ],
  );
  assert.match((await board(path).bundle())["text/plain"]!, /^Training, step 3 of 5\n {2}tuned: 3/);
  log.release();
  const bundle = await board(path).bundle();
  assert.match(bundle["text/plain"]!, /^Training, stopped at step 3\n/);
  assert.match(bundle["image/svg+xml"]!, /stopped at step 3</);
  assert.equal((carried(bundle["text/html"]!, "board") as BoardPayload).stopped, 3);
  for (const step of [3, 4]) await log.append(tuningLayout.log, { step, totalSteps: 5, loss: 0.1 });
  const done = await board(path).payload();
  assert.deepEqual([done.total, done.to, done.stopped], [undefined, 5, undefined]);
});

test("board() says where the run of a folder was stopped, by the share of it that is done", async () => {
  const path = join(await temporaryFolder("arpo-board"), "run");
  const run = await RunFolder.own(path);
  await run.appendMetrics({ step: 0, "val-core/calc/reward/mean@1": 0.1 });
  await run.appendMetrics({ step: 1, "critic/score/mean": 0.2, "training/progress": 1 / 3 });
  const running = await board(path).payload();
  assert.deepEqual([running.total, running.stopped], [3, undefined]);
  run.release();
  assert.equal((await board(path).payload()).stopped, 1);
  assert.equal((await board({ a: path, b: lines(0) }).payload()).stopped, undefined);
  // With a budget nobody knows the number of steps.
  await run.appendMetrics({ step: 2, "critic/score/mean": 0.2, "training/progress": 0.7 });
  const budget = await board(path).payload();
  assert.deepEqual([budget.total, budget.stopped], [undefined, 2]);
});

test("board() of a sweep's folder has a curve for each arm: the mean of the seeds so far", async () => {
  const path = join(await temporaryFolder("arpo-board"), "sweep");
  const ids = ["fresh/seed-1", "trees/seed-1", "fresh/seed-2", "trees/seed-2"];
  await mkdir(path);
  await writeFile(
    join(path, "sweep.json"),
    JSON.stringify(Object.fromEntries(ids.map((id) => [id, {}]))),
  );
  await assert.rejects(board(path).payload(), /metrics.jsonl must be there/);
  for (const [id, steps, score] of [
    [ids[0]!, 3, 0.2],
    [ids[1]!, 2, 0.3],
    [ids[2]!, 1, 0.4],
  ] as const) {
    await mkdir(join(path, dirname(id)), { recursive: true });
    const run = await RunFolder.open(join(path, id));
    for (let step = 1; step <= steps; step++) {
      await run.appendMetrics({ step, "critic/score/mean": score });
    }
  }
  const { runs, panels } = await board(path).payload();
  assert.deepEqual(runs, [
    { name: "fresh", seeds: 2, steps: 3 },
    { name: "trees", seeds: 1, steps: 2 },
  ]);
  const [fresh, trees] = panels[0]!.curves;
  assert.deepEqual(
    [fresh!.x, fresh!.y],
    [
      [1, 2, 3],
      [0.3, 0.2, 0.2],
    ],
  );
  assert.deepEqual(
    fresh!.high!.map((end) => end !== null),
    [true, false, false],
  );
  assert.deepEqual(trees!.y, [0.3, 0.3]);
  const { "image/svg+xml": picture, "text/plain": text } = await board(path).bundle();
  assert.doesNotMatch(picture!, /NaN|null/);
  assert.match(text!, /fresh: 3 steps, 2 seeds\n +Score: 0.3 → 0.2\n/);
});

test("board() keeps within its room for trees, spread over the steps", async () => {
  const run = await sampleRun(12);
  const all = carried(board(run).now()["text/html"]!, "board") as BoardPayload;
  assert.deepEqual(
    all.rollouts.map(({ step }) => step),
    run.steps.map(({ step }) => step),
  );
  const few = board(run, { rolloutBytes: 60_000 }).now()["text/html"]!;
  const { rollouts } = carried(few, "board") as BoardPayload;
  assert.ok(rollouts.length > 1 && rollouts.length < 12, `${rollouts.length} trees`);
  assert.equal(rollouts.at(-1)!.step, 12);
  assert.equal(rollouts[0]!.step, 1);
  assert.deepEqual(spreadOut([1, 2, 3, 4, 5]), [5, 1, 3, 2, 4]);
  assert.deepEqual(spreadOut([]), []);
});

test("board.glance() shows a run that continues, with the last step's tree alone", async () => {
  const { "text/html": html } = board(await sampleRun(4)).glance();
  const payload = carried(html!, "board") as BoardPayload;
  assert.equal(payload.to, 4);
  assert.equal(payload.total, 12);
  assert.deepEqual(
    payload.rollouts.map(({ step }) => step),
    [4],
  );
});

test("a run that is watched updates one display in place, and is not shown twice by its cell", async () => {
  const key = Symbol.for("arpo-lab.kernel.host");
  const holder = globalThis as { [key: symbol]: unknown };
  const shown: { id: string; update: boolean }[] = [];
  let cell = "1";
  holder[key] = {
    cell: () => ({ id: cell }),
    display: (bundle: Record<string, string>, options: { id: string; update: boolean }) => {
      assert.match(bundle["text/html"]!, /arpo-board/);
      shown.push(options);
    },
  };
  try {
    const run = await sampleRun(3);
    const live = watchRun(run)!;
    for (let i = 0; i < 3; i++) live.step();
    live.done();
    assert.deepEqual(
      shown.map(({ update }) => update),
      [false, true],
      "steps in quick succession are one",
    );
    assert.equal(new Set(shown.map(({ id }) => id)).size, 1);
    assert.deepEqual(showRunBoard(run), {});
    cell = "2";
    assert.match((await showRunBoard(run))["text/html"]!, /arpo-board/);
  } finally {
    holder[key] = undefined;
  }
  assert.equal(watchRun(await sampleRun(1)), undefined, "nobody looks outside a kernel");
});

test("board() gives one piece of HTML in which no name is code", async () => {
  const evil = `</script><script>alert(1)</script><!--<img src=x>`;
  const bundle = await board({ [evil]: lines(0.1), b: lines(0) }, { title: evil }).bundle();
  assert.equal(bundle["text/html"]!.match(/<script/g)!.length, 2);
  assert.doesNotMatch(bundle["text/html"]!, /<!--|<img|https?:(?!\/\/www\.w3\.org)/);
  assert.doesNotMatch(bundle["image/svg+xml"]!, /<script|<img/);
  assert.throws(() => board({}), /must have a run, got none/);
});

test("drawPanel() draws empty, endless and single figures", () => {
  const view: PanelView = {
    ...{ width: 300, height: 150, from: 0, to: 4, colours: ["#000000"], ink: "#808080" },
    ...{ smoothing: 0.5, cursor: 1, hidden: [], oneRun: true },
  };
  const panel = (curves: Partial<CurvePanel["curves"][number]>[]): CurvePanel => ({
    ...{ title: "<T>", help: "", stacked: false, labels: ["a"] },
    curves: curves.map((curve) => ({ run: 0, label: "a", x: [], y: [], ...curve })),
  });
  const odd = [
    panel([]),
    panel([{ x: [1], y: [0] }]),
    panel([{ x: [0, 1], y: [NaN, Infinity] }]),
    panel([{ x: [0, 1, 2], y: [-1e9, 1e-9, 1e9], low: [-2e9, 0, 0], high: [0, 1, 2e9] }]),
    {
      ...panel([
        { x: [0, 1], y: [1, 2] },
        { x: [0, 1], y: [1, 1] },
      ]),
      stacked: true,
    },
  ];
  for (const each of odd) {
    const svg = drawPanel(each, view);
    assert.match(svg, /^<svg[^]*<\/svg>$/);
    assert.doesNotMatch(svg, /NaN|Infinity|<T>/);
  }
  assert.deepEqual(
    smoothed([1, 1, 1], 0.9).map((x) => Math.round(1e9 * x)),
    [1e9, 1e9, 1e9],
  );
});

test("drawPanel() distinguishes runs without their colours", () => {
  const view: PanelView = {
    ...{ width: 300, height: 150, from: 0, to: 9, colours: ["#000000"], ink: "#808080" },
    ...{ smoothing: 0, cursor: 9, hidden: [], oneRun: false },
  };
  const x = Array.from({ length: 10 }, (_, i) => i);
  const curves = [0, 1, 2, 3, 4].map((run) => ({ run, label: "a", x, y: x }));
  const shapesOf = (run: number) => {
    const svg = drawPanel(
      { title: "T", help: "", stacked: false, labels: ["a"], curves: [curves[run]!] },
      view,
    );
    // The outline after its place: five marks along the curve, and the one of the step that is looked at.
    return [...svg.matchAll(/d="M[\d.]+ [\d.]+(m[^"]+z)"/g)].map(([, outline]) => outline!);
  };
  const shapes = curves.map(({ run }) => shapesOf(run));
  for (const each of shapes) assert.equal(each.length, 6);
  assert.equal(new Set(shapes.map(([outline]) => outline)).size, 5);
});

test("curves that never change are a line of words, not a chart", () => {
  const panel = (...ys: number[][]): CurvePanel => ({
    ...{ title: "Clip fractions", help: "", stacked: false, labels: ["a"] },
    curves: ys.map((y, run) => ({ run, label: "a", x: y.map((_, i) => i), y })),
  });
  assert.equal(constantWords(panel([0, 0, 0], [0, 0, 0])), "Clip fractions 0");
  assert.equal(constantWords(panel([-0.5, -0.5, -0.5])), "Clip fractions −0.5");
  for (const other of [panel([0, 0, 1]), panel([0, 0, 0], [1, 1, 1]), panel([0, 0]), panel()])
    assert.equal(constantWords(other), undefined);
});
