import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepCost } from "./gpu-check.js";
import type { ProductCheck } from "./gpu-products.js";
import { lacksGpu, runCheck } from "./software-gpu.js";

interface Result {
  ops: Record<string, number>;
  runs: Record<
    string,
    { losses: number; norms: number; weights: number; fell: number; cost: StepCost }
  >;
  top: { ids: boolean; logprobs: number };
  faults: string[];
  leaked: number;
  products: Record<string, ProductCheck>;
}

const result = runCheck("gpu-check.js", { ARPO_LAB_BACKEND: "" }) as Result | string;
const without = typeof result === "string" && lacksGpu(result);
const skip = without ? "Dawn finds no adapter here, not even one of software" : false;
const found = () => {
  if (typeof result === "string") assert.fail(result);
  return result;
};

test(
  "every fused kernel on a GPU gives what the compiled engine gives, gradients too",
  { skip },
  () => {
    const { ops, faults } = found();
    assert.deepEqual(faults, [], "the device reports no error");
    assert.ok(Object.keys(ops).length > 40);
    for (const [name, apart] of Object.entries(ops)) assert.ok(apart < 2e-5, `${name}: ${apart}`);
  },
);

test("the kernel for large products gives the bytes of the other one", { skip }, () => {
  const products = Object.entries(found().products);
  assert.equal(products.length, 12);
  for (const [name, { apart, same }] of products) {
    assert.ok(apart < 1e-5, `${name}: ${apart}`);
    assert.ok(same, name);
  }
});

test("the largest words come in the engine's order, equal ones too", { skip }, () => {
  const { top } = found();
  assert.ok(top.ids);
  assert.ok(top.logprobs < 2e-5, `${top.logprobs}`);
});

test("training on a GPU follows the compiled engine: losses, norms and weights", { skip }, () => {
  for (const [name, { losses, norms, weights, fell }] of Object.entries(found().runs)) {
    assert.ok(fell > 0.05, `${name}: the loss fell by ${fell}`);
    assert.ok(losses < 1e-3, `${name}: losses are ${losses} apart`);
    assert.ok(norms < 1e-3, `${name}: norms are ${norms} apart`);
    assert.ok(weights < 1e-3, `${name}: weights are ${weights} apart`);
  }
});

test(
  "a step of training is few dispatches and submits, and makes next to no buffers",
  { skip },
  () => {
    const { cost } = found().runs["four layers"]!;
    assert.ok(cost.dispatches <= 200, `${cost.dispatches} dispatches`);
    assert.ok(cost.submits <= 4, `${cost.submits} submits`);
    assert.ok(cost.buffers <= 8, `${cost.buffers} new buffers`);
    assert.ok(cost.bytesRead <= 64, `${cost.bytesRead} bytes read`);
  },
);

test("a step that trains adapters is in the order of one that trains all", { skip }, () => {
  const { cost } = found().runs["four layers, adapters"]!;
  assert.ok(cost.dispatches <= 240, `${cost.dispatches} dispatches`);
  assert.ok(cost.submits <= 4, `${cost.submits} submits`);
  assert.ok(cost.bytesRead <= 64, `${cost.bytesRead} bytes read`);
});

test("what a GPU computed leaves no tensor behind", { skip }, () => {
  assert.equal(found().leaked, 0);
});
