import { actorLoss, valueLoss } from "../../src/learn/losses/losses.js";
import { crossEntropy } from "../../src/learn/sft/train.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { Random } from "../../src/base/random/random.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { tf } from "../../src/tensor/tf.js";
import type { GradientCase } from "./gradient-case.js";

type Tensor = InstanceType<typeof tf.Tensor>;

const sizes = {
  vocabSize: 11,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  initializerRange: 0.4,
};
const examples = [
  { ids: [1, 2, 3, 4, 5], labels: [-100, -100, 3, 4, 5] },
  { ids: [6, 7, 8], labels: [-100, 7, 8] },
];
const perWeight = 4;

/** A loss of a whole model, moved at a few places of each of its weights. */
function ofModel(name: string, model: Model, loss: () => tf.Tensor): GradientCase {
  const { gradients } = gradientsOf(() => tf.tidy(() => loss().asScalar()), model.weights);
  const places = [...model.weights].flatMap(([weight, variable]) => {
    const draws = Random.from(5).split(weight);
    return Array.from({ length: perWeight }, () => ({
      variable,
      gradient: gradients[weight],
      index: draws.integer(variable.size),
    }));
  });
  return {
    name,
    at: places.map(({ variable, index }) => variable.dataSync()[index]!),
    analytic: places.map(({ gradient, index }) => gradient?.dataSync()[index] ?? 0),
    moved: (i, to) => {
      const { variable, index } = places[i]!;
      const before = variable.dataSync().slice();
      const put = (values: ArrayLike<number>) =>
        tf.tidy(() => variable.assign(tf.tensor([...Array.from(values)], variable.shape)));
      put(before.map((value, j) => (j === index ? to : value)));
      model.changed();
      const value = tf.tidy(() => loss().dataSync()[0]!);
      put(before);
      model.changed();
      return value;
    },
  };
}

/** Losses through a whole transformer: cross-entropy, the policy's, the critic's. */
export function* modelCases(): Generator<GradientCase> {
  const model = Model.init(sizes, 2);
  for (const checkpointing of [false, true]) {
    yield ofModel(`SFT cross-entropy${checkpointing ? ", recomputed" : ""}`, model, () =>
      crossEntropy(model, examples, { checkpointing }),
    );
  }
  const labels = tf.tensor2d(
    [
      [2, 3, 4, 5, 0],
      [7, 8, 0, 0, 0],
    ],
    [2, 5],
    "int32",
  );
  const mask = tf.tensor2d([
    [0, 1, 1, 1, 0],
    [1, 1, 0, 0, 0],
  ]);
  const batch = model.batch(examples.map(({ ids }) => ids));
  const now = model.logProbs(batch, labels).logprobs;
  const oldLogprobs: Tensor = now.sub(
    tf.tensor2d([
      [0, 0.3, -0.1, 0.1, 0],
      [-0.4, 0.05, 0, 0, 0],
    ]),
  );
  const advantages = tf.tensor2d([
    [1, -1, 1, 0.5, 0],
    [0.7, -0.6, 0, 0, 0],
  ]);
  yield ofModel("policy, entropy bonus and KL through a model", model, () => {
    const { logprobs, entropies } = model.logProbs(batch, labels, { temperature: 0.8 });
    return actorLoss(
      { logprobs, entropies, oldLogprobs, advantages, mask, refLogprobs: oldLogprobs },
      { entropyCoefficient: 0.1, klLossCoefficient: 0.2 },
    ).loss;
  });
  const critic = Model.init({ ...sizes, head: "value" }, 3);
  const values: Tensor = critic.values(batch).add(advantages.mul(0.3));
  yield ofModel(
    "value loss through a critic",
    critic,
    () => valueLoss({ predictions: critic.values(batch), values, returns: advantages, mask }).loss,
  );
}
