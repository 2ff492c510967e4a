import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { changed, engines, near, packed, scores } from "../../../tests/model/blocks.js";
import { randomWeights, smallShape } from "../../../tests/model/random-decoder.js";
import { Random } from "../../random/random.js";
import { packHalf, unpackHalf } from "../files/half.js";
import { type StoredValues, wholeValues } from "../files/weight-file.js";
import { nativeEngineExists } from "../../tensor/engine/native-engine.js";
import { EngineDecoder } from "./engine.js";
import type { DecoderShape } from "./weights.js";

const random = Random.from(5);
const shape = smallShape({ hidden: 64, feedForward: 160, heads: 4, kvHeads: 2, headDim: 16 });
/** Without layers a token's logits are one product: of its normed embedding and the output matrix. */
const bare = smallShape({ hidden: 96, layers: 0, vocabSize: 131, feedForward: 32, headDim: 8 });
const lines = [1, 2, 3, 17, 40].map((count) =>
  Array.from({ length: count }, () => random.integer(shape.vocabSize)),
);

function rounded(x: ArrayLike<number>): Float32Array {
  const out = new Float32Array(x.length);
  unpackHalf(packHalf(Float32Array.from(x), "bfloat16"), "bfloat16", out);
  return out;
}

/** The log-probabilities after a token, of a model without layers, summed in double precision. */
function expected(
  of: DecoderShape,
  weights: Record<"embedding" | "finalNorm" | "head", Float32Array>,
  id: number,
): number[] {
  const { hidden } = of;
  const x = [...weights.embedding.subarray(id * hidden, (id + 1) * hidden)];
  const size = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / hidden + of.normEps);
  const input = rounded(x.map((value, i) => (value / size) * weights.finalNorm[i]!));
  const head = rounded(weights.head);
  const logits = Array.from({ length: of.vocabSize }, (_, row) =>
    input.reduce((sum, value, i) => sum + value * head[row * hidden + i]!, 0),
  );
  const all = Math.log(logits.reduce((sum, value) => sum + Math.exp(value), 0));
  return logits.map((value) => value - all);
}

for (const [kind, load] of engines) {
  const { call } = load();

  test(`the ${kind} decoder's w16a16 gives sums of products of weights and activations in bfloat16`, () => {
    const weights = randomWeights(bare, { seed: 3 });
    // Numbers below the normal ones count as zero; a tie goes to the even neighbour.
    const head = (weights.head ?? weights.embedding).map((x, i) =>
      i % 7 === 0 ? 1e-39 : i % 7 === 1 ? 1 + 2 ** -8 : x,
    );
    const decoder = new EngineDecoder(call, bare, () => ({ ...weights, head }), "w16a16");
    const ids = Array.from({ length: 19 }, (_, i) => (i * 37) % bare.vocabSize);
    for (const count of [1, 2, 3, 4, 5, 7, 8, 11, 19]) {
      const some = ids.slice(0, count);
      const got = scores(decoder, some.map((id) => [id])).slice(0, count); // prettier-ignore
      near(got, some.map((id) => expected(bare, { ...weights, head }, id))); // prettier-ignore
    }
    assert.equal(decoder.rounded, "w16a16");
    decoder.dispose();
  });

  test(`the ${kind} decoder's w16a16 is near to float32, and a sequence's bytes are the same alone`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    const decoder = new EngineDecoder(call, shape, () => weights, "w16a16");
    const got = scores(decoder, lines);
    const exact = new EngineDecoder(call, shape, () => weights);
    const wanted = scores(exact, lines);
    const spread = Math.max(...wanted.flat()) - Math.min(...wanted.flat());
    const apart = got.flatMap((row, i) => row.map((x, j) => Math.abs(x - wanted[i]![j]!)));
    const mean = apart.reduce((a, b) => a + b) / apart.length;
    assert.ok(mean > 0 && mean < 0.003 * spread, `${mean} of ${spread}`);
    const alone = lines.map((line) => scores(decoder, [line]));
    assert.deepEqual(alone.flatMap(([first]) => [first]), got.slice(0, lines.length)); // prettier-ignore
    assert.deepEqual(alone.flatMap(([, second]) => [second]), got.slice(lines.length)); // prettier-ignore
    exact.dispose();
    decoder.dispose();
  });

  test(`the ${kind} decoder's w16a16 takes numbers in bfloat16 and a file's blocks, which it rounds`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    const told = (matrices: (m: Float32Array) => StoredValues): number[][] => {
      const all = changed<StoredValues>(weights, matrices);
      const decoder = new EngineDecoder(call, shape, () => ({ ...all, embedding: weights.embedding }), "w16a16"); // prettier-ignore
      const found = scores(decoder, lines);
      decoder.dispose();
      return found;
    };
    const plain = told((m) => m);
    assert.deepEqual(told((m) => packHalf(m, "bfloat16") as Uint16Array), plain); // prettier-ignore
    assert.deepEqual(told((m) => packed(m, "Q4_1")), told((m) => wholeValues(packed(m, "Q4_1")))); // prettier-ignore
  });

  test(`the ${kind} decoder's w16a16 refuses weights that are not finite, and widths that 32 does not divide`, () => {
    const weights = randomWeights(shape, { seed: 7 });
    weights.layers[1]!.gate[3 * shape.hidden + 5] = Infinity;
    assert.throws(
      () => new EngineDecoder(call, shape, () => weights, "w16a16"),
      /weights must be finite, got a number that is not in layers\[1\]\.gate, row 3/,
    );
    const narrow = smallShape({ hidden: 40, heads: 2, kvHeads: 1, headDim: 16 });
    const other = randomWeights(narrow, { seed: 7 });
    assert.throws(
      () => new EngineDecoder(call, narrow, () => other, "w16a16"),
      /Cannot make a decoder: with dtype "w16a16" widths must be multiples of 32, got 40/,
    );
  });
}

const narrowed = process.env["ARPO_LAB_ISA"] !== undefined;
const skip = (narrowed || process.arch !== "x64") && "only an x64 processor has these instructions";
for (const isa of ["sse2", "avx2", "avx512"]) {
  test(`so it is with no more than ${isa}`, { skip }, () => {
    // Without the name by which it would take itself for a part of this run.
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined, ARPO_LAB_ISA: isa };
    const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], {
      env,
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  });
}

const logits = `
  const { createHash } = await import("node:crypto");
  const { engines, scores } = await import("${new URL("../../../tests/model/blocks.js", import.meta.url)}");
  const { randomWeights, smallShape } = await import("${new URL("../../../tests/model/random-decoder.js", import.meta.url)}");
  const { EngineDecoder } = await import("${new URL("engine.js", import.meta.url)}");
  const shape = smallShape({ hidden: 64, feedForward: 160, heads: 4, kvHeads: 2, headDim: 16 });
  const [, load] = engines.find(([kind]) => kind === "native");
  const decoder = new EngineDecoder(load().call, shape, () => randomWeights(shape, { seed: 7 }), "w16a16");
  const told = scores(decoder, [[3], [1, 4, 1, 5, 9, 2, 6], [5, 3, 5]]).flat();
  console.log(told.length, createHash("sha256").update(Float64Array.from(told)).digest("hex"));
  process.exit(0);
`;

if (nativeEngineExists())
  test(
    "w16a16 has the same bytes with the processor's sums of pairs and with float32's",
    { skip },
    () => {
      // Where the processor has no sums of pairs, or no AVX-512, both are the same.
      const told = [undefined, "avx512"].map((isa) => {
        const env = { ...process.env, NODE_TEST_CONTEXT: undefined, ARPO_LAB_ISA: isa };
        const args = ["--input-type=module", "-e", logits];
        const { status, stdout, stderr } = spawnSync(process.execPath, args, {
          env,
          encoding: "utf8",
        });
        assert.equal(status, 0, stderr);
        return stdout;
      });
      assert.match(told[0]!, /^\d+ [0-9a-f]{64}\n$/);
      assert.equal(told[1], told[0]);
    },
  );
