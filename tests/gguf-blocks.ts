// What tests/python/make_gguf_blocks.py writes, held against what is here.
import assert from "node:assert/strict";
import { dequantize } from "../src/model/files/gguf/dequantize.js";
import { type PackedType, quantize } from "../src/model/files/gguf/quantize.js";

/** Bytes are in base64. */
export interface GgufBlocks {
  read: Record<string, { bytes: string; values: string }>;
  written: { values: string; bytes: Record<PackedType, string> };
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "base64")).slice();

function same(found: Uint8Array, wanted: Uint8Array, what: string): void {
  assert.equal(found.length, wanted.length, what);
  const at = found.findIndex((byte, i) => byte !== wanted[i]);
  assert.ok(at < 0, `${what}: byte ${at} must be ${wanted[at]}, got ${found[at]}`);
}

/** Compares all of it bit for bit; gives how many values there were. */
export function checkBlocks({ read, written }: GgufBlocks): number {
  let count = 0;
  for (const [type, { bytes, values }] of Object.entries(read)) {
    const wanted = bytesOf(values);
    const out = new Float32Array(wanted.length / 4);
    dequantize(type, bytesOf(bytes), out);
    same(new Uint8Array(out.buffer), wanted, `values of ${type}`);
    count += out.length;
  }
  assert.equal(Object.keys(read).length, 14);
  const values = new Float32Array(bytesOf(written.values).buffer);
  for (const [type, bytes] of Object.entries(written.bytes)) {
    same(quantize(type as PackedType, values), bytesOf(bytes), `bytes of ${type}`);
    count += values.length;
  }
  assert.equal(Object.keys(written.bytes).length, 6);
  return count;
}
