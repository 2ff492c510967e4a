import assert from "node:assert/strict";
import { test } from "node:test";
import { lacksGpu, runCheck } from "../tensor/software-gpu.js";
import type { Otherwise } from "./mirrored-decoder.js";

interface Found {
  apart: number;
  rows: number;
  others: number;
}
interface Seen {
  apart: number;
  steps: number;
  mostRows: number;
  wrong: Otherwise[];
}
interface Result {
  texts: Found & { same: boolean };
  kept: { found: Record<"float16" | "bfloat16" | "int8", Found>; same: boolean; rounded: string[] };
  tree: Found & { sizes: number; left: number };
  sampling: Found;
  answers: Seen & {
    cost: { dispatches: number; submits: number; bytesRead: number };
    layers: number;
    count: number;
  };
  crowd: Seen & { joined: number; left: number };
  trouble: Record<string, string | number>;
  faults: string[];
}

const check = new URL("gpu-decoder-check.js", import.meta.url).href;
const result = runCheck(check, { ARPO_LAB_BACKEND: "" }) as Result | string;
const without = typeof result === "string" && lacksGpu(result);
const skip = without ? "Dawn finds no adapter here, not even one of software" : false;
const found = () => {
  if (typeof result === "string") assert.fail(result);
  assert.deepEqual(result.faults, [], "the device reports no error");
  return result;
};
const alike = ({ apart, rows, others }: Found, of = "float32") => {
  assert.ok(apart < 2e-5, `${of}: ${apart} apart`);
  assert.ok(others <= rows / 100, `${of}: ${others} of ${rows} tokens are others`);
};

const same = ({ apart, wrong }: Seen) => {
  assert.ok(apart < 2e-5, `${apart} apart`);
  assert.deepEqual(wrong, [], "every other token is a tie");
};

test(
  "GpuDecoder gives the engine's numbers, and a sequence the same bytes however it is fed",
  { skip },
  () => {
    const { texts } = found();
    alike(texts);
    assert.ok(texts.same);
  },
);

test("GpuDecoder keeps weights in 16 and 8 bits as the engine does, and says so", { skip }, () => {
  const { kept } = found();
  for (const [type, one] of Object.entries(kept.found)) alike(one, type);
  assert.ok(kept.same, "bits of bfloat16 are what they were rounded from");
  assert.deepEqual([...new Set(kept.rounded)], ["float16", "bfloat16", "int8"]);
});

test(
  "GpuDecoder keeps forks, cuts and closes as the engine does, in as many pages",
  { skip },
  () => {
    const { tree } = found();
    alike(tree);
    assert.equal(tree.sizes, 1);
    assert.equal(tree.left, 0);
  },
);

test(
  "GpuDecoder samples what the engine samples, under every setting, 64 sequences at once",
  { skip },
  () => {
    assert.ok(found().sampling.rows >= 320);
    alike(found().sampling);
  },
);

test("GpuDecoder answers as the engine does, at one submit and few bytes a step", { skip }, () => {
  const { answers } = found();
  same(answers);
  const { cost, layers, count } = answers;
  assert.ok(cost.dispatches <= 12 * layers + 5, `${cost.dispatches} dispatches`);
  assert.equal(cost.submits, 1);
  assert.ok(cost.bytesRead <= 64 * count, `${cost.bytesRead} bytes for ${count} sequences`);
});

test("GpuDecoder decodes 64 sequences that join and leave as the engine does", { skip }, () => {
  const { crowd } = found();
  same(crowd);
  assert.equal(crowd.mostRows, 64);
  assert.ok(crowd.joined > 150, `${crowd.joined} sequences joined`);
  assert.equal(crowd.left, 0);
});

test(
  "GpuDecoder leaves sequences as they were where a step fails, and closes one that is fed after it",
  { skip },
  () => {
    const { trouble } = found();
    assert.match(String(trouble["wrong"]), /token ids must be from 0 to 49, got 50/);
    assert.equal(trouble["length"], 2);
    assert.equal(trouble["queued"], 4, "two steps of a sequence wait for each other");
    assert.match(
      String(trouble["forked"]),
      /Cannot fork sequence 0: it must not be fed at the same time/,
    );
    assert.equal(trouble["left"], 0);
    assert.match(String(trouble["notANumber"]), /the logits must be finite numbers/);
    assert.equal(trouble["kept"], 0);
    assert.match(String(trouble["refresh"]), /no sequence may be open, got 1 open sequences/);
    assert.match(String(trouble["gone"]), /has been disposed of/);
  },
);
