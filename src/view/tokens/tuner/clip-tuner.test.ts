import assert from "node:assert/strict";
import { before, test } from "node:test";
import { packagePath } from "#platform/modules";
import { readRollouts } from "../../../formats/read-rollouts.js";
import { advantages } from "../../../learn/advantages.js";
import { TrainingBatch } from "../../../learn/batch.js";
import { update } from "../../../learn/update/learner.js";
import { UpdateReport } from "../../../learn/update/update-report.js";
import { Policy } from "../../../policy/policies.js";
import { score } from "../../../reward/score-trees.js";
import { rollout } from "../../../rollout/rollout.js";
import { taskTools } from "../../../tasks/task-tools.js";
import { mixed } from "../../../tasks/tasks/mixed.js";
import { world } from "../../../tasks/tasks/world.js";
import { clipTuner } from "./clip-tuner.js";
import { readTuner, tune } from "./page/tune.js";
import type { TunerPayload, TunerSettings } from "./payload.js";

/** A payload as its page reads it. */
const read = (payload: TunerPayload) =>
  readTuner(JSON.parse(JSON.stringify(payload)) as TunerPayload);

let trained: TrainingBatch;
let untouched: TrainingBatch;
let moved: Policy;

// A batch of the smallest model that several updates have gone over, so that ratios have left the bounds.
before(async () => {
  const policy = await Policy.load(packagePath("data/models/tiny"));
  const tools = taskTools(world);
  const tree = await rollout(policy, mixed({ seed: 7 }).train[5]!, {
    ...{ preset: "arpo", tools, n: 8, initialRollouts: 4, responseLength: 160, seed: 3 },
    ...{ sampling: { topP: 0.95 } },
  });
  const scored = await score(tree);
  untouched = advantages(scored, { estimator: "grpo" });
  trained = advantages(scored, { estimator: "grpo" });
  await update(policy, trained, { epochs: 4, learningRate: 1e-3, miniBatchSize: 4 });
  moved = policy;
  await tools.dispose();
});

/** The report of an update with other settings, over the same log-probabilities. */
const reportOf = (options: UpdateReport["options"]) => new UpdateReport({}, trained, options, 0);

test("where the sliders begin, tokens are what the update's report says of them", () => {
  for (const options of [
    {},
    { clipRatioLow: 0.05, clipRatioHigh: 0.1 },
    { clipRatioLow: 0.01, clipRatioHigh: 0.01, entropyBalancedClipping: true },
    { loss: "gspo", clipRatioLow: 0.003, clipRatioHigh: 0.004 },
    { loss: "cispo" },
    { offPolicyMask: 0.01 },
  ] as const) {
    const report = reportOf(options);
    const { payload } = clipTuner(report);
    const tuned = tune(read(payload), payload.first);
    let known = 0;
    trained.trajectories.forEach((row, r) => {
      report.tokens(row).forEach((token, t) => {
        if (token === undefined) return;
        known++;
        const at = payload.rows[r]!.start + t;
        assert.ok(Math.abs(tuned.weight[at]! - token.weight) < 1e-5, JSON.stringify(options));
        const isLost = row.advantages[t] !== 0 && token.weight === 0;
        if (isLost) assert.ok(tuned.cause[at] !== undefined);
      });
    });
    assert.equal(tuned.trained, known);
  }
});

test("narrower bounds take more gradients, and the shares are of the advantage", () => {
  const { payload } = clipTuner(reportOf({}));
  const batch = read(payload);
  const of = (changes: Partial<TunerSettings>) => tune(batch, { ...payload.first, ...changes });
  const widths = [2, 0.2, 0.02, 0].map((x) => of({ low: Math.min(1, x), high: x, c: 10 }));
  const lost = widths.map(({ lostAdvantage }) => lostAdvantage);
  assert.deepEqual(
    lost,
    lost.toSorted((a, b) => a - b),
  );
  assert.equal(lost[0], 0);
  assert.ok(lost.at(-1)! > 0);
  const narrow = widths[3]!;
  const sums = { tokens: 0, advantage: 0 };
  for (const { tokens, advantage } of Object.values(narrow.lost)) {
    sums.tokens += tokens;
    sums.advantage += advantage;
  }
  assert.equal(sums.tokens, narrow.lostTokens);
  assert.ok(Math.abs(sums.advantage - narrow.lostAdvantage) < 1e-9);
  // By hand: what the bounds of 0 lose is what moved the way its advantage pushes it.
  let byHand = 0;
  batch.mask.forEach((trains, t) => {
    const log = batch.logprobs[t]! - batch.oldLogprobs[t]!;
    if (trains && log * batch.advantages[t]! > 0) byHand += Math.abs(batch.advantages[t]!);
  });
  assert.ok(
    Math.abs(narrow.lostAdvantage - byHand) < 1e-3 * narrow.all,
    `${narrow.lostAdvantage} ${byHand}`,
  );
});

test("weights, tests and masks are those of the corrections, and each names what it takes", () => {
  const { payload } = clipTuner(untouched, {
    current: trained.trajectories.map((one) => one.newLogprobs!),
  });
  const batch = read(payload);
  // Pretend that the sampler was another policy: the trained one.
  batch.sampledLogprobs = batch.logprobs.slice();
  const of = (changes: Partial<TunerSettings>) =>
    tune(batch, { ...payload.first, low: 1, high: 10, c: 10, ...changes });
  const plain = of({});
  assert.equal(plain.lostTokens, 0);
  const weighed = of({ weights: "token", cap: 2 });
  batch.mask.forEach((trains, t) => {
    if (!trains) return;
    const weight = Math.min(2, Math.exp(batch.oldLogprobs[t]! - batch.sampledLogprobs[t]!));
    assert.ok(
      Math.abs(weighed.weight[t]! - plain.weight[t]! * weight) < 1e-3 * (1 + weighed.weight[t]!),
    );
  });
  const dropped = of({ weights: "sequence", cap: 1, drop: true });
  assert.ok(dropped.lost.weight.tokens > 0);
  assert.equal(dropped.lost.weight.tokens, dropped.lostTokens);
  const rejected = of({ reject: "token_k2", rejectAt: 1e-4 });
  assert.ok(rejected.lost.rejected.tokens > 0);
  // What top-p left makes the ratio to the sampler smaller over the whole vocabulary.
  assert.ok(payload.keptMass !== undefined);
  const [cut, whole] = [false, true].map((one) => of({ weights: "token", cap: 10, whole: one }));
  assert.ok(whole!.left < cut!.left);
  // Against the policy before, what was pushed down already is masked.
  batch.sampledLogprobs = batch.oldLogprobs.slice();
  const masked = of({ offPolicyMask: 0 });
  assert.ok(masked.lost.mask.tokens > 0);
  assert.equal(masked.lost.mask.tokens, masked.lostTokens);
  masked.cause.forEach((cause, t) => cause === "mask" && assert.ok(batch.advantages[t]! < 0));
});

test("a batch or imported rollouts take another policy's log-probabilities, stored or asked for", async () => {
  const asked = await clipTuner(untouched, { current: moved });
  assert.ok(tune(read(asked.payload), { ...asked.payload.first, low: 0, high: 0 }).lostTokens > 0);
  const rows = [0, 1].map((i) => ({
    ...{ prompt_ids: [5, 6], completion_ids: [7, 8, 9], reward: i },
    logprobs: [-1, -0.5, -2],
  }));
  const imported = readRollouts(
    rows.map(({ prompt_ids, completion_ids, reward, logprobs }) => ({
      ...{ tokens: [...prompt_ids, ...completion_ids], response_length: 3, reward, prompt: "q" },
      ...{ rollout_log_probs: logprobs, loss_mask: [1, 1, 1], group_index: 0, label: "1" },
    })),
  );
  const current = [
    [-0.2, -0.5, -2],
    [-1, -0.5, -3],
  ];
  const tuner = clipTuner(imported, { current });
  const tuned = tune(read(tuner.payload), tuner.payload.first);
  assert.equal(tuned.trained, 6);
  assert.match(tuner.summary, /lose their gradient/);
});

test("what has no second log-probabilities, or others than its tokens, is refused", () => {
  assert.throws(
    () => clipTuner(untouched),
    /Cannot tune clipping: there must be log-probabilities of another policy than the one that sampled, got none/,
  );
  assert.throws(
    () => clipTuner(untouched, { current: [[1]] }),
    /Cannot tune clipping: current must have \d+ numbers for trajectory 0, got 1/,
  );
  assert.throws(() => clipTuner(new TrainingBatch([], "grpo")), /must have a trajectory, got none/);
  assert.throws(() => clipTuner(undefined as never), /there must be a batch, .* got undefined/);
  assert.throws(() => clipTuner({} as never), /there must be a batch, .* got an object/);
  assert.throws(() => clipTuner(trained, { tokens: 0 }), /tokens must be an integer of at least 1/);
  const few = clipTuner(trained, { tokens: 200 });
  assert.match(few.summary, /\d of 8 trajectories are shown, evenly chosen: tokens 200\./);
});
