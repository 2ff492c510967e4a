// Values of packed blocks and bytes of packed values, against PyPI's gguf, whose own are in
// tests/fixtures/gguf-blocks.json (tests/python/make_gguf_blocks.py); tests/python/gguf-blocks.slow.test.ts has more.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkBlocks, type GgufBlocks } from "../../../../tests/gguf-blocks.js";
import { dequantize } from "./dequantize.js";
import { quantize } from "./quantize.js";

const path = new URL("../../../../../tests/fixtures/gguf-blocks.json", import.meta.url);

test("blocks of every type have the values, and values the bytes, of the reference", () => {
  checkBlocks(JSON.parse(readFileSync(path, "utf8")) as GgufBlocks);
});

test("types that are not read or written and sizes that do not fit are refused", () => {
  const out = new Float32Array(32);
  assert.throws(() => dequantize("IQ1_S", new Uint8Array(34), out), /must be one of .*got IQ1_S/);
  assert.throws(() => dequantize("Q8_0", new Uint8Array(33), out), /34 bytes for each 32 values/);
  assert.throws(() => quantize("Q6_K" as "F16", out), /must be one of .*got Q6_K/);
  assert.throws(() => quantize("Q4_0", new Float32Array(33)), /a multiple of 32 values, got 33/);
});
