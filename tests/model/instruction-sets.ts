// Tests of a decoder again in a process with a smaller instruction set, and the bytes that two sets give.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { DecoderType } from "../../src/model/decoder/weights.js";
import { nativeEngineExists } from "../../src/tensor/engine/native-engine.js";

const skip =
  (process.env["ARPO_LAB_ISA"] !== undefined || process.arch !== "x64") &&
  "only an x64 processor has these instructions";

function outputOf(isa: string | undefined, args: readonly string[]): string {
  // Without the name by which a test would take itself for a part of this run.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, ARPO_LAB_ISA: isa };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

/** Runs the test file at `url` once for each set, with no more than it. */
export function testAgainWith(sets: readonly string[], url: string): void {
  for (const isa of sets)
    test(`so it is with no more than ${isa}`, { skip }, () => {
      outputOf(isa, [fileURLToPath(url)]);
    });
}

const at = (path: string): string => new URL(path, import.meta.url).href;

const hash = (dtypes: readonly DecoderType[]): string => `
  const { createHash } = await import("node:crypto");
  const { engines, scores } = await import("${at("blocks.js")}");
  const { randomWeights, smallShape } = await import("${at("random-decoder.js")}");
  const { EngineDecoder } = await import("${at("../../src/model/decoder/engine.js")}");
  const shape = smallShape({ hidden: 64, feedForward: 160, heads: 4, kvHeads: 2, headDim: 16 });
  const [, load] = engines.find(([kind]) => kind === "native");
  for (const dtype of ${JSON.stringify(dtypes)}) {
    const decoder = new EngineDecoder(load().call, shape, () => randomWeights(shape, { seed: 7 }), dtype);
    const told = scores(decoder, [[3], [1, 4, 1, 5, 9, 2, 6], [5, 3, 5]]).flat();
    console.log(told.length, createHash("sha256").update(Float64Array.from(told)).digest("hex"));
  }
  process.exit(0);
`;

/** Tests that a decoder's log-probabilities are the same with two sets; undefined is all that the processor has. */
export function testSameBytes(
  name: string,
  dtypes: readonly DecoderType[],
  sets: readonly (string | undefined)[],
): void {
  if (!nativeEngineExists()) return;
  test(name, { skip }, () => {
    const [first, second] = sets.map((isa) =>
      outputOf(isa, ["--input-type=module", "-e", hash(dtypes)]),
    );
    assert.match(first!, new RegExp(`^(\\d+ [0-9a-f]{64}\\n){${dtypes.length}}$`));
    assert.equal(second, first);
  });
}
