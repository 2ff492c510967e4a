import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { Random } from "../../base/random/random.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { tf } from "../../tensor/tf.js";
import { type BatchSequence, TrainingBatch } from "../batch.js";
import { Learner } from "../update/learner.js";
import type { UpdateOptions } from "../update/update-settings.js";
import { bypassWeights, correctionOf, type RolloutCorrection } from "./rollout-correction.js";
import { correctionWeights } from "./weights.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 2, heads: 2 };

/** Sequences whose sampler was so much surer of each token than the model is, in ln p. */
async function sampledSequences(
  surer: (t: number) => number,
  sampler?: "int8",
): Promise<BatchSequence[]> {
  const random = Random.from(2);
  const sequences = [3, 5, 4].map((n, i): BatchSequence => {
    const tokens = Int32Array.from({ length: n }, () => 1 + random.integer(10));
    const lossMask = tokens.map((_, t) => Number(t !== 1)) as unknown as Uint8Array;
    const mask = Uint8Array.from(lossMask);
    const trajectory: Trajectory = {
      ...{ id: i, kind: "initial", round: 0, parent: -1, from: -1, leaf: i },
      ...{ tree: 0, nodes: [i], end: "answer", text: "", calls: 0, toolCalls: [] },
      ...{ prompt: Int32Array.of(1, 2 + i), tokens, written: mask, lossMask: mask },
      ...{ attention: tokens.map(() => 1) as unknown as Uint8Array },
      ...{ logprobs: new Float32Array(n), entropies: new Float32Array(n).fill(1) },
      ...(sampler ? { sampler } : {}),
    };
    const returns = new Float32Array(n);
    return {
      ...{ trajectory, group: "q", reward: 1, returns },
      advantages: returns.map(() => (i === 1 ? -1 : 0.5)),
    };
  });
  const { logprobs } = await new Learner(Model.init(sizes, 3)).logProbs(sequences);
  sequences.forEach(({ trajectory }, i) => {
    trajectory.logprobs = logprobs[i]!.map((p, t) => p + surer(t));
    trajectory.logprobs[1] = NaN; // a tool's
  });
  return sequences;
}

async function updated(sequences: BatchSequence[], options: UpdateOptions = {}) {
  const model = Model.init(sizes, 3);
  const learner = new Learner(model, { learningRate: 1e-2, ...options });
  const report = await learner.update(new TrainingBatch(sequences, "grpo"));
  const weights = [...model.weights.values()].flatMap((w) => [...(w.dataSync() as Float32Array)]);
  return { report, weights, rows: sequences };
}

const apart = (a: number[], b: number[]) => Math.max(...a.map((x, i) => Math.abs(x - b[i]!)));

test("an update corrects by itself where another policy sampled, and only there", async () => {
  const surer = () => 0.3;
  const plain = await updated(await sampledSequences(surer));
  const never = await updated(await sampledSequences(surer, "int8"), { rolloutCorrection: false });
  const auto = await updated(await sampledSequences(surer, "int8"));
  const always = await updated(await sampledSequences(surer), { rolloutCorrection: true });
  assert.deepEqual(plain.weights, never.weights);
  assert.deepEqual(auto.weights, always.weights);
  assert.ok(!Object.keys(plain.report.metrics).some((name) => name.startsWith("rollout_corr/")));
  assert.ok(Math.abs(auto.report.metrics["rollout_corr/kl"]! - 0.3) < 1e-5);
  assert.ok(Math.abs(auto.report.metrics["rollout_corr/rollout_is_mean"]! - Math.exp(-0.3)) < 1e-5);
  assert.equal(auto.report.metrics["rollout_corr/unknown_fraction"], 0);
  const [first] = auto.rows;
  assert.ok(Math.abs(first!.rolloutWeights![0]! - Math.exp(-0.3)) < 1e-5);
  assert.equal(first!.rolloutWeights![1], 0); // a tool's answer
  const token = auto.report.tokens(first!)[0]!;
  assert.ok(Math.abs(token.weight - Math.exp(-0.3)) < 1e-4);
});

test("rollout weights multiply what a token is worth", async () => {
  // p / p_sampler is 4 on even tokens and cut to 2; 0.5 on odd ones.
  const surer = (t: number) => (t % 2 === 0 ? -Math.log(4) : Math.log(2));
  const corrected = await updated(await sampledSequences(surer, "int8"));
  const sequences = await sampledSequences(surer);
  for (const sequence of sequences)
    sequence.advantages = sequence.advantages.map((a, t) => a * (t % 2 === 0 ? 2 : 0.5));
  const byHand = await updated(sequences);
  assert.ok(apart(corrected.weights, byHand.weights) < 1e-5);
  assert.ok(
    apart(corrected.weights, (await updated(await sampledSequences(surer))).weights) > 1e-3,
  );
});

test("rejection by k1 bounds the weights' ratio, with verl's inverse by its switch", async () => {
  // The model is three times as sure as the sampler was: p / p_sampler = 3.
  const sequences = await sampledSequences((t) => (t === 0 ? -Math.log(3) : 0), "int8");
  const reject = { weights: null, reject: "token_k1", rejectThreshold: "0.2_2" } as const;
  const ratio = await updated(sequences, { rolloutCorrection: reject });
  assert.deepEqual([...ratio.rows[0]!.keptMask!], [0, 0, 1]);
  assert.equal(ratio.rows[0]!.rolloutWeights, undefined);
  assert.equal(ratio.report.tokens(ratio.rows[0]!)[0]!.weight, 0);
  const inverse = await updated(sequences, { rolloutCorrection: { ...reject, inverseK1: true } });
  assert.deepEqual([...inverse.rows[0]!.keptMask!], [1, 0, 1]);
  // What an earlier update left out is back where nothing is asked for.
  const off = await updated(sequences, { rolloutCorrection: false });
  assert.equal(off.rows[0]!.keptMask, undefined);
});

test("a token whose sampler said nothing is weighed by its sequence, or by 1", async () => {
  const silent = async () => {
    const sequences = await sampledSequences(() => 0.5, "int8");
    for (const { trajectory } of sequences) trajectory.logprobs[2] = NaN;
    return sequences;
  };
  const tokens = await updated(await silent());
  assert.equal(tokens.rows[0]!.rolloutWeights![2], 1);
  assert.ok(Math.abs(tokens.report.metrics["rollout_corr/unknown_fraction"]! - 3 / 9) < 1e-6);
  const ofSequences = await updated(await silent(), { rolloutCorrection: { weights: "sequence" } });
  const [first] = ofSequences.rows;
  assert.ok(Math.abs(first!.rolloutWeights![2]! - Math.exp(-0.5)) < 1e-5);
  const none = await sampledSequences(() => NaN, "int8");
  const { report } = await updated(none);
  assert.equal(report.metrics["rollout_corr/unknown_fraction"], 1);
  await assert.rejects(
    updated(none, { rolloutCorrection: { mode: "bypass" } }),
    /Cannot bypass measuring: the sampler must have said/,
  );
  // Where nothing is trained nothing need be said.
  for (const { trajectory } of none) trajectory.lossMask.fill(0);
  const idle = await updated(none, { rolloutCorrection: { mode: "bypass" } });
  assert.equal(idle.report.metrics["actor/pg_loss"], 0);
});

test("bypass takes ratios against the sampler and measures nothing before", async () => {
  const surer = () => -0.1;
  const bypass = await updated(await sampledSequences(surer, "int8"), {
    rolloutCorrection: { mode: "bypass" },
  });
  assert.ok(Math.abs(bypass.report.metrics["actor/ppo_kl"]! + 0.1) < 1e-5);
  assert.ok(Math.abs(bypass.report.metrics["rollout_corr/kl"]! + 0.1) < 1e-5);
  assert.equal(bypass.report.metrics["actor/entropy_loss"], 1); // the sampler's own
  // The plain policy gradient under weights has the gradient of an unclipped ratio at its start.
  const reinforce = await updated(await sampledSequences(surer, "int8"), {
    rolloutCorrection: { mode: "bypass", bypassLoss: "reinforce" },
  });
  assert.ok(apart(bypass.weights, reinforce.weights) < 1e-5);
  assert.ok(Math.abs(reinforce.rows[0]!.rolloutWeights![0]! - Math.exp(0.1)) < 1e-5);
  // Measured afterwards as usual.
  const after = await updated(bypass.rows, { rolloutCorrection: false });
  assert.ok(Math.abs(after.report.metrics["actor/ppo_kl"]!) < 1e-6);
  await assert.rejects(
    updated(bypass.rows, { loss: "cispo", rolloutCorrection: { mode: "bypass" } }),
    /loss must be vanilla, got cispo/,
  );
});

test("bypass weighs in tensors as the function does in numbers", () => {
  const random = Random.from(5);
  for (let i = 0; i < 60; i++) {
    const [sequences, width] = [1 + random.integer(4), 1 + random.integer(5)];
    const matrix = (of: (r: number, t: number) => number) =>
      Array.from({ length: sequences }, (_, r) =>
        Array.from({ length: width }, (__, t) => of(r, t)),
      );
    const mask = matrix((r, t) => Number(random.uniform() < 0.7 || (r === 0 && t === 0)));
    const logprobs = matrix(() => -3 * random.uniform());
    const sampled = matrix(() => -3 * random.uniform());
    const logRatio = logprobs.map((sequence, r) => sequence.map((p, t) => p - sampled[r]![t]!));
    const weights = random.uniform() < 0.5 ? "token" : "sequence";
    const threshold = random.uniform() < 0.5 ? 2 : "0.5_2";
    const normalize = random.uniform() < 0.5;
    const outside = random.choose(["cut", "drop"] as const);
    const settings = correctionOf(
      {
        ...{ weights, threshold, normalize, outside },
        ...{ mode: "bypass", bypassLoss: "reinforce" },
      },
      [],
    )!;
    const found = bypassWeights(
      tf.tensor2d(logprobs),
      tf.tensor2d(sampled),
      tf.tensor2d(mask),
      settings,
    )!;
    const batch = { logRatio, mask };
    const wanted = correctionWeights(batch, { weights, threshold, normalize, outside }).weights;
    const all = wanted.flatMap((sequence) => [...sequence]);
    assert.ok(apart([...(found.dataSync() as Float32Array)], all) < 1e-5, `${i}`);
  }
});

test("what bypass rejects is not counted, in whatever passes a step goes", async () => {
  // One token of each trajectory is beyond the bound: the mean is over the others.
  const surer = (t: number) => (t === 0 ? -3 : -0.1);
  const how = { mode: "bypass", bypassLoss: "reinforce", weights: null } as const;
  const tests = { reject: "token_k2", rejectThreshold: 0.5 };
  const loss = async (correction: RolloutCorrection, options: UpdateOptions = {}) => {
    const rolloutCorrection = { ...how, ...correction };
    const found = await updated(await sampledSequences(surer), {
      ...{ ...options, rolloutCorrection },
    });
    return { ...found, loss: found.report.metrics["actor/pg_loss"]! };
  };
  const all = await loss({});
  const kept = await loss(tests);
  const tokens = (masks: (Uint8Array | undefined)[]) =>
    masks.reduce((n, mask) => n + mask!.reduce((a, b) => a + b, 0), 0);
  const left = tokens(kept.rows.map(({ keptMask }) => keptMask));
  assert.equal(left, tokens(all.rows.map(({ keptMask }) => keptMask)) - kept.rows.length);
  const sum = kept.rows.reduce((total, { keptMask, advantages, newLogprobs }) => {
    keptMask!.forEach((m, t) => (total -= m ? advantages[t]! * newLogprobs![t]! : 0));
    return total;
  }, 0);
  assert.ok(Math.abs(kept.loss - sum / left) < 1e-5, `${kept.loss} ${sum / left}`);
  for (const aggregation of ["token-mean", "seq-mean-token-sum-norm"] as const) {
    const together = await loss(tests, { aggregation });
    const apiece = await loss(tests, { aggregation, maxSequencesPerPass: 1 });
    assert.ok(Math.abs(apiece.loss - together.loss) < 1e-5, aggregation);
    assert.ok(apart(apiece.weights, together.weights) < 1e-6);
  }
});

test("TRL's correction by name: a weight per trajectory, 0 above 3", async () => {
  // The model finds each of a trajectory's trained tokens so much more probable than the sampler did.
  const surer = (t: number) => (t === 0 ? -Math.log(4) : Math.log(1.5));
  const trl = await updated(await sampledSequences(surer), { rolloutCorrection: { form: "trl" } });
  trl.rows.forEach(({ rolloutWeights, trajectory }) => {
    const tokens = trajectory.lossMask.reduce((n, m) => n + m, 0);
    const ratio = 4 / 1.5 ** (tokens - 1);
    const wanted = ratio > 3 ? 0 : ratio;
    assert.ok(Math.abs(rolloutWeights![0]! - wanted) < 1e-3, `${rolloutWeights![0]} ${wanted}`);
  });
  const cut = { form: "trl", outside: "cut" } as const;
  const most = await updated(await sampledSequences(() => -1), { rolloutCorrection: cut });
  assert.ok(most.rows.every(({ rolloutWeights }) => Math.abs(rolloutWeights![0]! - 3) < 1e-6));
});

test("a correction that cannot be is refused by name", () => {
  const refused: [object, RegExp][] = [
    [{ weights: "row" }, /weights must be one of token, sequence or null, got "row"/],
    [{ threshold: "2_1" }, /threshold must be a number above 0, or two/],
    [{ threshold: 0 }, /threshold must be a number above 0, or two/],
    [{ reject: "token_k1" }, /rejectThreshold must be given for token_k1/],
    [{ reject: "token_k9", rejectThreshold: 1 }, /reject must name tests of/],
    [
      { reject: "token_k2", rejectThreshold: "1_2" },
      /rejectThreshold of token_k2 must be one bound/,
    ],
    [{ reject: "token_k2,token_k3,seq_sum_k2", rejectThreshold: "1,2" }, /one for each of 3/],
    [{ mode: "both" }, /mode must be one of decoupled, bypass/],
    [{ bypassLoss: "ppo" }, /bypassLoss must be one of ppo_clip, reinforce/],
    [{ when: "never" }, /when must be one of always, auto/],
  ];
  for (const [options, message] of refused) assert.throws(() => correctionOf(options, []), message);
  assert.throws(
    () => new Learner(Model.init(sizes, 1), { rolloutCorrection: 1 as never }),
    /rolloutCorrection must be true or false or an object, got 1/,
  );
});
