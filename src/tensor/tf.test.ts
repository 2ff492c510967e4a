import assert from "node:assert/strict";
import { test } from "node:test";
import { tf } from "./tf.js";

test("tf differentiates with the gradients of tfjs-core registered", () => {
  const slope = tf.grad((x: InstanceType<typeof tf.Tensor>) => x.square().mul(3).sum());
  assert.deepEqual([...slope(tf.tensor1d([1, -2])).dataSync()], [6, -12]);
});
