import assert from "node:assert/strict";
import { test } from "node:test";
import { freeTapeEagerly } from "./free-tape-eagerly.js";
import { tf } from "./tf.js";

/** a + b, whose gradient is handed on to both as it came. */
const sum = (a: tf.Tensor, b: tf.Tensor): tf.Tensor =>
  tf.customGrad((...given) => ({
    value: (given[0] as tf.Tensor).add(given[1] as tf.Tensor),
    gradFunc: (dy: tf.Tensor) => [dy, dy],
  }))(a, b);

test("freeTapeEagerly() changes no gradient, where one is handed on to several too", () => {
  const f = (x: tf.Tensor) => sum(x.square(), x.mul(3)).sum().asScalar();
  const x = tf.tensor1d([1, -2, 0.5]);
  const wanted = [...tf.grad(f)(x).dataSync()];
  const before = tf.memory().numTensors;
  const found = tf.grad((given: tf.Tensor) => freeTapeEagerly(() => f(given)))(x);
  assert.deepEqual([...found.dataSync()], wanted);
  assert.deepEqual(wanted, [5, -1, 4]); // 2x + 3
  found.dispose();
  assert.equal(tf.memory().numTensors, before, "nothing is left behind");
  x.dispose();
});

test("freeTapeEagerly() frees in the backward pass what tfjs keeps until its end", () => {
  const x = tf.ones([1000]);
  const most = (around: <T>(f: () => T) => T): number => {
    let bytes = 0;
    // The first operation is the last in the backward pass.
    const first = (given: tf.Tensor): tf.Tensor =>
      tf.customGrad((...all) => ({
        value: (all[0] as tf.Tensor).mul(1),
        gradFunc: (dy: tf.Tensor) => {
          bytes = tf.memory().numBytes;
          return [dy.mul(1)];
        },
      }))(given);
    const f = (given: tf.Tensor) =>
      around(() => {
        let y = first(given);
        for (let i = 0; i < 20; i++) y = y.mul(y);
        return y.sum().asScalar();
      });
    tf.grad(f)(x).dispose();
    return bytes;
  };
  const kept = most((f) => f());
  const freed = most(freeTapeEagerly);
  // Twenty products of 4,000 bytes are saved, and as many gradients pass by.
  assert.ok(kept - freed > 20 * 4000, `${kept} and ${freed}`);
  x.dispose();
});
