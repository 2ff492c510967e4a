import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../../model/transformer/transformer.js";
import { Random } from "../../base/random/random.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import { type BatchSequence, TrainingBatch } from "../batch.js";
import { Learner } from "../update/learner.js";
import { type UpdateOptions, updateSettings } from "../update/update-settings.js";
import { tf } from "../../tensor/tf.js";
import { divergenceAt } from "./divergence.js";
import { type DistillationSettings, distillationKinds } from "./options.js";
import type { Teacher } from "./teacher.js";
import { tokenDivergence } from "./vocabulary.js";

const sizes = { vocabSize: 11, hiddenSize: 8, intermediateSize: 16, layers: 2, heads: 2 };

/** Trajectories with a tool result in each; with `by`, that stands wherever the model did not write. */
function batch(by = 0): TrainingBatch {
  const random = Random.from(2);
  const sequences = [5, 7, 6, 9].map((n, i): BatchSequence => {
    const tokens = Int32Array.from({ length: n }, () => 1 + random.integer(10));
    const lossMask = Uint8Array.from(tokens, (_, t) => Number(t !== 2));
    const own = (of: (t: number) => number) =>
      Float32Array.from(tokens, (_, t) => (lossMask[t] ? of(t) : by));
    const trajectory: Partial<Trajectory> = {
      ...{ tree: 0, id: i, nodes: [i], prompt: Int32Array.from([1, 2 + i]), tokens, lossMask },
      logprobs: own(() => -2),
    };
    return {
      trajectory: trajectory as Trajectory,
      ...{ group: "q", reward: 0, advantages: own(() => (i % 2 ? 1 : -1)), returns: own(() => 0) },
    };
  });
  return new TrainingBatch(sequences, "grpo");
}

const teacher = () => Model.init(sizes, 9);
const weights = (model: Model) => [...model.weights.values()].flatMap((w) => [...w.dataSync()]);

/** So many updates of a student; how far apart it and its teacher are before each of them. */
async function taught(options: UpdateOptions, { updates = 1, by = 0 } = {}) {
  const model = Model.init(sizes, 3);
  const learner = new Learner(model, { learningRate: 5e-3, weightDecay: 0, ...options });
  const gaps: number[] = [];
  const own = batch(by);
  let metrics: Readonly<Record<string, number>> = {};
  for (let i = 0; i < updates; i++) {
    ({ metrics } = await learner.update(own));
    gaps.push(metrics["distillation/reverse_kl"]!);
  }
  return { model, gaps, metrics, batch: own };
}

const inLoss = distillationKinds.filter((kind) => !["kl", "k1"].includes(kind));
const whole = { distillationAdvantage: false, distillationKind: "jsd" } as const;
const ways: UpdateOptions[] = [
  { ...whole, distillationTopK: 0, distillationBeta: 1 },
  { ...whole, distillationTopK: 4, distillationBeta: 0 },
  { ...whole, distillationTopK: 4, distillationTail: false, distillationRewards: false },
  { distillationRewards: false },
  { distillationKind: "k3", distillationClamp: 0.5 },
  { distillationDiscount: 0.9 },
  { distillationMix: "scale" },
  { distillationMix: "early" },
  { distillationMix: "belief-turn" },
  { distillationMix: "belief-token" },
  ...inLoss.map((distillationKind) => ({ distillationKind, distillationAdvantage: false })),
];

test("a student that learns from its teacher alone finds its tokens as likely as the teacher does", async () => {
  for (const options of [
    { distillationRewards: false },
    { distillationRewards: false, distillationAdvantage: false, distillationKind: "k2" } as const,
    { ...whole, distillationRewards: false },
    { ...whole, distillationRewards: false, distillationKind: "sampled_token" } as const,
  ]) {
    const own = batch();
    const model = Model.init(sizes, 3);
    const learner = new Learner(model, { learningRate: 2e-2, weightDecay: 0, teacher: teacher() });
    const apart = async () => {
      const said = await learner.logProbs(own.trajectories, { model: teacher() });
      const now = await learner.logProbs(own.trajectories);
      const gaps = own.trajectories.flatMap(({ trajectory: { lossMask } }, i) =>
        [...now.logprobs[i]!].map((p, t) => lossMask[t]! * Math.abs(p - said.logprobs[i]![t]!)),
      );
      return gaps.reduce((a, b) => a + b, 0);
    };
    const before = await apart();
    // A batch that was measured is not measured again.
    for (let i = 0; i < 30; i++) await learner.update(batch(), options);
    assert.ok((await apart()) < before / 2, JSON.stringify(options));
  }
});

test("what stands at a masked token changes no bit of an update with a teacher, in any form", async () => {
  for (const way of ways) {
    const options = { ...way, teacher: teacher() };
    const expected = await taught(options);
    assert.equal(expected.metrics["distillation/tokens"], 23, JSON.stringify(way));
    for (const by of [NaN, Infinity, -Infinity, 1e30]) {
      const found = await taught(options, { by });
      assert.deepEqual(
        weights(found.model),
        weights(expected.model),
        `${by} ${JSON.stringify(way)}`,
      );
      assert.deepEqual(found.metrics, expected.metrics);
    }
  }
});

test("an update with a teacher is the same whatever fits into one pass", async () => {
  for (const way of ways) {
    const options = { ...way, teacher: teacher() };
    const whole = weights((await taught(options)).model);
    const split = weights((await taught({ ...options, maxTokensPerPass: 8 })).model);
    assert.ok(
      whole.every((w, i) => Math.abs(w - split[i]!) < 2e-4),
      JSON.stringify(way),
    );
  }
});

test("a policy that says log-probabilities teaches as its model does", async () => {
  const model = teacher();
  const learner = new Learner(model);
  const policy = {
    logProbs: async (
      asked: readonly { prompt: ArrayLike<number>; tokens: ArrayLike<number> }[],
    ) => {
      const { logprobs, entropies } = await learner.logProbs(
        asked.map(({ prompt, tokens }) => ({
          trajectory: { prompt: Int32Array.from(prompt), tokens: Int32Array.from(tokens) } as never,
        })),
      );
      return logprobs.map((p, i) => ({ logprobs: p, entropies: entropies[i]! }));
    },
  };
  const near = await taught({ teacher: model });
  const far = await taught({ teacher: policy as never });
  assert.ok(Math.abs(near.gaps[0]! - far.gaps[0]!) < 1e-6);
  const apart = weights(near.model).map((w, i) => Math.abs(w - weights(far.model)[i]!));
  assert.ok(Math.max(...apart) < 1e-5);
});

test("the same model teaches itself from another prompt, and only the trajectories that have one", async () => {
  const asked: number[] = [];
  const { metrics, batch: own } = await taught({
    teacher: {
      prompts: (sequences) =>
        sequences.map(({ trajectory: { id, prompt } }) => {
          asked.push(id);
          return id === 1 ? undefined : [...prompt, 7, 8];
        }),
    },
  });
  assert.deepEqual(asked, [0, 1, 2, 3]);
  assert.equal(metrics["distillation/tokens"], 17);
  assert.ok(metrics["distillation/reverse_kl"] !== 0);
  const [with0, without] = own.trajectories;
  assert.ok(with0!.teacherLogprobs && !without!.teacherLogprobs);
  assert.deepEqual([...without!.taughtAdvantages!], [...without!.advantages]);
  assert.ok(with0!.taughtAdvantages!.some((a, t) => a !== with0!.advantages[t]));
});

test("advantages are the trajectory's own again after an update without a teacher", async () => {
  const model = Model.init(sizes, 3);
  const learner = new Learner(model);
  const own = batch();
  await learner.update(own, { teacher: teacher() });
  assert.ok(own.trajectories[0]!.taughtAdvantages);
  const { metrics } = await learner.update(own);
  assert.equal(own.trajectories[0]!.taughtAdvantages, undefined);
  assert.equal(metrics["distillation/tokens"], undefined);
});

test("forms that teach nothing are refused, and a teacher that says what is not finite", async () => {
  for (const distillationKind of ["k1", "kl"] as const) {
    await assert.rejects(
      taught({ teacher: teacher(), distillationKind, distillationAdvantage: false }),
      new RegExp(
        `distillationKind must not be ${distillationKind} in the loss, whose gradient does not contain the teacher`,
      ),
    );
  }
  await assert.rejects(
    taught({ teacher: teacher(), distillationKind: "sdar" }),
    /sdar must be in the loss/,
  );
  const mute = {
    logProbs: (asked: readonly { tokens: ArrayLike<number> }[]) =>
      Promise.resolve(
        asked.map(({ tokens }) => ({ logprobs: new Float32Array(tokens.length).fill(-Infinity) })),
      ),
  };
  await assert.rejects(taught({ teacher: mute as never }), {
    message:
      "Cannot update: what the teacher says must be finite, got -Infinity at token 0 of trajectory 0 of q",
  });
});

test("the teacher's loss is a mean over the trajectories that have a teacher, whatever fits into one pass", async () => {
  for (const distillationKind of ["k2", "jsd"] as const) {
    const options = {
      ...{ ...whole, distillationKind, distillationRewards: false },
      teacher: {
        prompts: (all: readonly Pick<BatchSequence, "trajectory">[]) =>
          all.map(({ trajectory: { id, prompt } }) => (id === 2 ? [...prompt, 7] : undefined)),
      },
    };
    const lossOf = async (own: TrainingBatch, more: UpdateOptions = {}) => {
      const model = Model.init(sizes, 3);
      const learner = new Learner(model, { learningRate: 5e-3, weightDecay: 0 });
      const { metrics } = await learner.update(own, { ...options, ...more });
      return { loss: metrics["actor/distillation_loss"]!, weights: weights(model) };
    };
    const among = await lossOf(batch());
    const alone = await lossOf(new TrainingBatch([batch().trajectories[2]!], "grpo"));
    assert.ok(among.loss > 0 && Math.abs(among.loss - alone.loss) < 1e-6, distillationKind);
    const split = await lossOf(batch(), { maxTokensPerPass: 8 });
    assert.ok(among.weights.every((w, i) => Math.abs(w - split.weights[i]!) < 2e-4));
  }
});

test("whole distributions are compared with a model alone, of the same vocabulary", async () => {
  const mute = { logProbs: () => Promise.resolve([]) };
  await assert.rejects(
    taught({ ...whole, teacher: mute as never }),
    /teacher and student must be models in this process/,
  );
  await assert.rejects(
    taught({ ...whole, teacher: Model.init({ ...sizes, vocabSize: 12 }, 9) }),
    /must have one vocabulary, got 12 tokens and 11/,
  );
});

test("an estimate in the advantage is the number that it is in the loss, however far apart", () => {
  for (const distillationKind of ["k1", "kl", "abs", "mse", "k2", "low_var_kl", "k3"] as const) {
    for (const [student, said] of [
      [-1, -2],
      [-40, -1],
      [-1, -40],
    ] as const) {
      const settings = { distillationKind, sdarBeta: 5 } as DistillationSettings;
      const row = (x: number) => tf.tensor2d([[x]]);
      const inLoss = tokenDivergence(row(student), row(said), settings).dataSync()[0]!;
      const apart = divergenceAt(student, said, settings);
      assert.ok(Math.abs(apart - inLoss) < 1e-4 * (1 + Math.abs(inLoss)), distillationKind);
    }
  }
});

test("a teacher elsewhere is not asked over what was left at the sampler, which it cannot say", async () => {
  const own = batch();
  for (const { trajectory } of own.trajectories) {
    const { tokens } = trajectory;
    trajectory.support = {
      offsets: Int32Array.from({ length: tokens.length + 1 }, (_, t) => 2 * t),
      ids: Int32Array.from([...tokens].flatMap((id) => [0, id])),
      logprobs: new Float32Array(tokens.length).fill(-0.1),
    };
  }
  const elsewhere: Teacher = {
    logProbs: (asked: readonly { tokens: Int32Array }[]) =>
      Promise.resolve(
        asked.map(({ tokens }) => ({
          logprobs: new Float32Array(tokens.length).fill(-1),
          entropies: new Float32Array(tokens.length),
        })),
      ),
  } as never;
  const learner = new Learner(Model.init(sizes, 3), { teacher: elsewhere });
  await assert.rejects(learner.update(own), /must be of models in this process, got one elsewhere/);
  const { metrics } = await learner.update(own, { samplingMask: "whole" });
  assert.equal(metrics["distillation/tokens"], 23);
});

test("a way into the advantage is refused where nothing goes there", () => {
  const refused: [UpdateOptions, RegExp][] = [
    [
      { distillationMix: "early", distillationAdvantage: false, distillationKind: "k2" },
      /distillationMix must be add where distillationAdvantage is false, got early/,
    ],
    [
      { distillationMix: "scale", distillationRewards: false },
      /distillationRewards must be true beside distillationMix scale, .* got false/,
    ],
    [
      { distillationMix: "belief-turn", distillationRewards: false },
      /distillationRewards must be true beside distillationMix belief-turn/,
    ],
  ];
  for (const [options, why] of refused) {
    assert.throws(() => updateSettings({ ...options, teacher: teacher() }), why);
  }
});
