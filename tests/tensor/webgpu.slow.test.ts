import assert from "node:assert/strict";
import { test } from "node:test";
import { lacksGpu, runCheck } from "./software-gpu.js";

interface Said {
  tokens: number[];
  logprobs: number[];
}
interface Learning {
  before: Said[];
  scored: number[][];
  metrics: Record<string, number>;
  moved: number[][];
  after: Said[];
}
interface Result {
  backend: string;
  ops: Record<string, { values: number[][]; gradients: Record<string, number[]> }>;
  whole: Learning;
  adapters: Learning;
}

function run(backend: string): Result | string {
  return runCheck("webgpu-check.js", { ARPO_LAB_BACKEND: backend }) as Result | string;
}

/** Numbers of the same structure are close; everything else is the same. */
function close(actual: unknown, expected: unknown, within: number, at = ""): void {
  if (typeof expected === "number") {
    const [a, b] = [actual as number, expected];
    assert.ok(Math.abs(a - b) <= within * (1 + Math.abs(b)), `${at}: ${a} is not ${b}`);
  } else if (typeof expected === "object" && expected !== null) {
    const [ours, theirs] = [actual, expected] as Record<string, unknown>[];
    assert.deepEqual(Object.keys(ours!), Object.keys(theirs!), at);
    for (const key of Object.keys(theirs!)) close(ours![key], theirs![key], within, `${at}.${key}`);
  } else assert.equal(actual, expected, at);
}

test("webgpu gives what the compiled engine gives: fused ops, a step of learning, decoding after it", (t) => {
  const gpu = run("webgpu");
  if (typeof gpu === "string") {
    if (!lacksGpu(gpu)) assert.fail(gpu);
    return t.skip("Dawn finds no adapter here, not even one of software");
  }
  const plain = run("");
  if (typeof plain === "string") assert.fail(plain);
  assert.equal(gpu.backend, "webgpu");
  close(gpu.ops, plain.ops, 2e-5, "ops");
  for (const part of ["whole", "adapters"] as const) {
    close(gpu[part].before, plain[part].before, 2e-5, `${part}.before`);
    close(gpu[part].scored, plain[part].scored, 1e-4, `${part}.scored`);
    close(gpu[part].moved, plain[part].moved, 1e-3, `${part}.moved`);
    assert.notDeepEqual(gpu[part].before, gpu[part].after, "the decoder follows training");
    // What the decoder says after the step is what the model on the GPU says.
    close(gpu[part].after, plain[part].after, 2e-3, `${part}.after`);
  }
});
