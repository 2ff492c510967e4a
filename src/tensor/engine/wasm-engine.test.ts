import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../base/random/random.js";

process.env["ARPO_LAB_THREADS"] = "2";
const { loadWasmEngine } = await import("./wasm-engine.js");

// Where a thread waits for ever, this file is stopped, and the test has failed.
test("a thread that runs out of memory gives its job back, and the caller has an error, wherever memory ends", () => {
  const [batch, heads, time, width] = [1, 4, 800, 64];
  const size = batch * heads * time * width;
  const random = Random.from(5).split("wasm-memory");
  const [q, k, v] = [0, 1, 2].map(() => Float32Array.from({ length: size }, () => random.normal()));
  const small = Float32Array.from({ length: 64 }, (_, i) => i);
  let wanted: Float32Array | undefined;
  const ends = new Set<string>();
  // The whole takes some 6 MB beside the stacks: a quarter of a megabyte less each time.
  for (let pages = 160; pages >= 64; pages -= 4) {
    const { call } = loadWasmEngine("wasm", [pages]);
    const product = new Float32Array(64);
    const attend = () => {
      const [out, sums] = [new Float32Array(size), new Float32Array(batch * heads * time)];
      call.attention(q!, k!, v!, null, null, out, sums, batch, time, heads, heads, width, 0);
      return out;
    };
    for (let again = 0; again < 3; again++) {
      try {
        const out = attend();
        wanted ??= out;
        assert.deepEqual(out, wanted);
        ends.add("whole");
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error));
        assert.match(error.message, /Cannot compute: the wasm engine must fit in \d+ bytes/);
        ends.add("refused");
      }
      // What fits still has its result.
      // prettier-ignore
      call.matmul(small, 8, false, 0, small, 8, false, 0, product, 8, 0, 1, 8, 8, 8, 1, false);
      assert.equal(
        product[0],
        small.subarray(0, 8).reduce((sum, x, i) => sum + x * small[8 * i]!, 0),
      );
    }
  }
  assert.deepEqual([...ends].sort(), ["refused", "whole"]);
});
