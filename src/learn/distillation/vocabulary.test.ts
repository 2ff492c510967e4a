import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";
import { tf } from "../../tensor/tf.js";
import { ratioWeights, vocabularyDivergence } from "./vocabulary.js";

type Tensor = InstanceType<typeof tf.Tensor>;

test("divergences of whole distributions have the gradient that finite differences have", () => {
  const random = Random.from(5);
  const logits = () => Array.from({ length: 12 }, () => 4 * random.uniform() - 2);
  const [student, teacher] = [logits(), tf.logSoftmax(tf.tensor2d(logits(), [2, 6]))];
  for (const [distillationBeta, distillationTopK, distillationTail] of [
    [0, 0, false],
    [1, 0, false],
    [0.5, 0, false],
    [0.3, 3, true],
    [0.5, 3, false],
    [1, 2, true],
  ] as const) {
    const form = { distillationBeta, distillationTopK, distillationTail };
    const of = (x: Tensor) =>
      vocabularyDivergence(tf.logSoftmax(x), teacher, form).sum().asScalar();
    const at = (values: number[]) => of(tf.tensor2d(values, [2, 6])).dataSync()[0]!;
    const slopes = [
      ...tf
        .grad(of)(tf.tensor2d(student, [2, 6]))
        .dataSync(),
    ];
    const step = 1e-2;
    slopes.forEach((slope, i) => {
      const moved = (by: number) => student.map((x, j) => (i === j ? x + by : x));
      const found = (at(moved(step)) - at(moved(-step))) / (2 * step);
      assert.ok(Math.abs(slope - found) < 2e-3, `${JSON.stringify(form)}: ${slope} ${found}`);
    });
    assert.ok(at(student) > 0);
  }
});

test("a teacher that is the student is at no distance, and a token weighs at most what it may", () => {
  const all = tf.logSoftmax(tf.tensor2d([1, 2, 3, 4, 0, 0, 0, 9], [2, 4]));
  for (const distillationBeta of [0, 0.5, 1]) {
    for (const distillationTopK of [0, 2]) {
      const form = { distillationBeta, distillationTopK, distillationTail: true };
      for (const far of vocabularyDivergence(all, all, form).dataSync())
        assert.ok(Math.abs(far) < 1e-6);
    }
  }
  const weights = ratioWeights(tf.tensor1d([0, 0, 0]), tf.tensor1d([0, -1e30, 1]), 2).dataSync();
  assert.deepEqual([...weights.slice(0, 2)], [1, 2]);
  assert.ok(Math.abs(weights[2]! - Math.exp(-1)) < 1e-6);
});
