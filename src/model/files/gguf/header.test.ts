// What is no GGUF file, or a broken one, is refused in words; what is read is found.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { wholeValues } from "../weight-file.js";
import { GgufFile } from "./gguf-file.js";

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
const u64 = (value: number | bigint) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const key = (name: string, type: number, value: Buffer) =>
  Buffer.concat([text(name), u32(type), value]);
const entry = (name: string, shape: number[], type: number, start: number) =>
  Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(start)]);
const file = (keys: Buffer[], tensors: Buffer[], data: Buffer = Buffer.alloc(0), version = 3) => {
  const head = [Buffer.from("GGUF"), u32(version), u64(tensors.length), u64(keys.length)];
  const header = Buffer.concat([...head, ...keys, ...tensors]);
  const padded = Buffer.alloc(Math.ceil(header.length / 32) * 32);
  header.copy(padded);
  return Buffer.concat([padded, data]);
};

async function opened(
  t: { after(f: () => Promise<void>): void },
  bytes: Buffer,
): Promise<GgufFile> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-gguf-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "a.gguf");
  await writeFile(path, bytes);
  return GgufFile.open(path);
}

test("keys of every type and tensors are read", async (t) => {
  const values = Float32Array.of(1, -2, 3, 4, 5, 6);
  const found = await opened(
    t,
    file(
      [
        key("byte", 1, Buffer.from([0xff])),
        key("flag", 7, Buffer.from([1])),
        key("long", 11, Buffer.from(BigInt64Array.of(-7n).buffer)),
        key("double", 12, Buffer.from(Float64Array.of(0.1).buffer)),
        key("lists", 9, Buffer.concat([u32(9), u64(2), u32(8), u64(1), text("ä"), u32(4), u64(0)])),
      ],
      [entry("w", [3, 2], 0, 0)],
      Buffer.from(values.buffer),
    ),
  );
  const said = { byte: -1, flag: true, long: -7, double: 0.1, lists: [["ä"], []] };
  assert.deepEqual(Object.fromEntries(found.metadata), said);
  assert.deepEqual(found.tensors.get("w")?.shape, [2, 3]);
  assert.deepEqual(await found.read("w"), values);
  assert.deepEqual(wholeValues(found.packed("w", null)), values);
  await assert.rejects(found.read("v"), /it must hold v, got none/);
  await found.close();
});

test("a tensor of a type that is not read is told by its name and type when it is asked for", async (t) => {
  const found = await opened(t, file([], [entry("odd", [256], 19, 0)], Buffer.alloc(50)));
  await assert.rejects(found.read("odd"), /odd must be one of F32, .*got IQ1_S/);
  await found.close();
});

test("broken files are refused", async (t) => {
  const whole = file([key("a", 8, text("b"))], [entry("w", [32, 2], 8, 0)], Buffer.alloc(68));
  const broken: [Buffer, RegExp][] = [
    [Buffer.from("GGUF"), /must hold a header, in bytes, got 4/],
    [Buffer.concat([Buffer.from("GGML"), whole.subarray(4)]), /must begin with "GGUF"/],
    [file([], [], undefined, 1), /version must be 2 or 3, got 1/],
    [file([], [], undefined, 0x03000000), /got bytes in big-endian order/],
    [whole.subarray(0, whole.length - 1), /must hold 164 bytes \(it may be truncated\), got 163/],
    [whole.subarray(0, 30), /it may be truncated/],
    [file([key("a", 13, u32(0))], []), /type of a must be a number from 0 to 12, got 13/],
    [file([key("a", 9, Buffer.concat([u32(8), u64(90)]))], []), /a must fit|at most the file's/],
    [file([key("a", 8, u64(2n ** 62n))], []), /a text's length must be at most the file's/],
    [file([key("a", 4, u32(1)), key("a", 4, u32(1))], []), /keys must differ, got a twice/],
    [file([], [entry("w", [31], 8, 0)], Buffer.alloc(34)), /multiple of 32, as Q8_0 packs them/],
    [file([], [entry("w", [1], 99, 0)]), /type of w must be a known one, got number 99/],
    [file([], [entry("w", [1], 0, 4)], Buffer.alloc(64)), /begin at a multiple of 32, got 4/],
    [
      file([], [entry("v", [32], 0, 0), entry("w", [32], 0, 32)], Buffer.alloc(256)),
      /w must not overlap/,
    ],
  ];
  for (const [bytes, message] of broken) await assert.rejects(opened(t, bytes), message);
});
