import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { tf } from "../../src/tensor/tf.js";
import { opCases, type OpResult, runCase } from "./op-cases.js";

// The plain versions in double precision, already checked against finite differences there.
const script = fileURLToPath(new URL("../../../tools/vendor/float64.mjs", import.meta.url));
const reference = JSON.parse(
  execFileSync(process.execPath, [script, "dist/tests/tensor/op-reference.js"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  }),
) as Record<string, OpResult>;

function assertClose(actual: number[], expected: number[], what: string): void {
  assert.equal(actual.length, expected.length, what);
  for (const [i, x] of actual.entries()) {
    const y = expected[i]!;
    assert.ok(Math.abs(x - y) <= 5e-6 * (1 + Math.abs(y)), `${what}[${i}]: ${x} is not ${y}`);
  }
}

for (const backend of ["cpu", "native", "wasm"].filter((name) => tf.findBackendFactory(name))) {
  for (const op of opCases) {
    test(`${op.name} on ${backend} gives the values and gradients of float64`, async () => {
      await tf.setBackend(backend);
      const before = tf.memory().numTensors;
      const { values, gradients } = await runCase(op);
      const wanted = reference[op.name]!;
      values.forEach((v, i) => assertClose(v, wanted.values[i]!, `value ${i}`));
      for (const [name, slope] of Object.entries(gradients)) {
        assertClose(slope, wanted.gradients[name]!, `gradient of ${name}`);
      }
      assert.equal(tf.memory().numTensors, before, "tensors were left behind");
    });
  }
}

for (const backend of ["cpu", "native", "wasm"].filter((name) => tf.findBackendFactory(name))) {
  test(`truth values and whole numbers cast to float32 can be computed with on ${backend}`, async () => {
    await tf.setBackend(backend);
    const before = tf.memory().numTensors;
    const sum = tf.tidy(() => {
      // Large enough for the engine's own kernels.
      const numbers = tf.range(0, 600, 1, "int32");
      const half = numbers.greaterEqual(300).cast<tf.Tensor>("float32");
      return half.mul(numbers.cast<tf.Tensor>("float32")).sum();
    });
    assert.equal((await sum.data())[0], (300 * (300 + 599)) / 2);
    sum.dispose();
    assert.equal(tf.memory().numTensors, before);
  });
}
