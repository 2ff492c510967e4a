import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { lacksGpu, runCheck } from "../tensor/software-gpu.js";
import type { Otherwise } from "./mirrored-decoder.js";

interface Written {
  tokens: number[];
  logprobs: number[];
}
interface Result {
  backend: string;
  decodes: string;
  tree: {
    steps: number;
    forks: number;
    truncations: number;
    mostRows: number;
    apart: number;
    otherwise: Otherwise[];
    calls: number;
    branches: number;
    same: boolean;
  };
  evaluated: unknown[];
  completed: string[];
  before: Written;
  trained: Written[];
  eights: Written[];
  sampler?: string;
  faults: string[];
}

const cache = mkdtempSync(join(tmpdir(), "arpo-gpu-"));
after(() => rmSync(cache, { recursive: true }));
const check = new URL("gpu-lab-check.js", import.meta.url).href;
const result = runCheck(check, { ARPO_LAB_BACKEND: "", ARPO_LAB_CACHE: cache }) as Result | string;
const without = typeof result === "string" && lacksGpu(result);
const skip = without ? "Dawn finds no adapter here, not even one of software" : false;
const found = () => {
  if (typeof result === "string") assert.fail(result);
  assert.deepEqual(result.faults, [], "the device reports no error");
  return result;
};

test("a policy whose model decodes faster on a GPU is loaded onto it", { skip }, () => {
  assert.notEqual(found().backend, "webgpu");
  assert.equal(found().decodes, "webgpu");
});

test("a tree with tools and branches is the engine's but for named ties", { skip }, () => {
  const { tree } = found();
  assert.ok(
    tree.branches > 0 && tree.forks > 0 && tree.calls > 0 && tree.mostRows > 1,
    JSON.stringify(tree),
  );
  assert.ok(tree.apart < 1e-4, `${tree.apart} apart`);
  assert.deepEqual(
    tree.otherwise.filter(({ tie }) => !tie),
    [],
    "every other token is a tie of draws",
  );
  if (tree.otherwise.length === 0) assert.ok(tree.same, "not one tie, so the trees are equal");
});

test("an evaluation and a server answer from the GPU as from the engine", { skip }, () => {
  const { evaluated, completed } = found();
  assert.deepEqual(evaluated[0], evaluated[1]);
  assert.equal(completed[0], completed[1]);
});

const close = (ours: Written, right: Written) => {
  assert.deepEqual(ours.tokens, right.tokens);
  for (const [i, value] of right.logprobs.entries()) {
    assert.ok(Math.abs(ours.logprobs[i]! - value) < 1e-4, `${ours.logprobs[i]} is not ${value}`);
  }
};

test("a policy on the GPU follows training, and takes rounded weights", { skip }, () => {
  const { before, trained, eights, sampler } = found();
  close(trained[0]!, trained[1]!);
  assert.notDeepEqual(trained[0]!.logprobs, before.logprobs);
  close(eights[0]!, eights[1]!);
  assert.notDeepEqual(eights[0]!.logprobs, before.logprobs);
  assert.equal(sampler, "int8");
});
