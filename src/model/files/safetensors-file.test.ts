import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Random } from "../../base/random/random.js";
import { SafetensorsFile } from "./safetensors-file.js";
import { writeSafetensors } from "./write-safetensors.js";

const folder = await mkdtemp(join(tmpdir(), "arpo-safetensors-"));
after(() => rm(folder, { recursive: true }));
let count = 0;

/** A file with the given header and that many bytes of data. */
async function made(header: unknown, dataBytes: number, claimed?: bigint): Promise<string> {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(claimed ?? BigInt(text.length));
  const path = join(folder, `${count++}.safetensors`);
  await writeFile(path, Buffer.concat([length, text, Buffer.alloc(dataBytes)]));
  return path;
}

test("writeSafetensors() is undone by SafetensorsFile.read() in every weight type", async () => {
  const values = new Float32Array([0, -0, 1, -1.5, 0.1, 65504, 6e-8, 1 / 3]);
  const expected = {
    float32: values,
    float16: [0, -0, 1, -1.5, 0.0999755859375, 65504, 2 ** -24, 0.333251953125],
    bfloat16: [0, -0, 1, -1.5, 0.10009765625, 65536, 6.007030606269836e-8, 0.333984375],
  };
  for (const dtype of ["float32", "float16", "bfloat16"] as const) {
    const path = join(folder, `${dtype}.safetensors`);
    const sources = [
      { name: "a.weight", shape: [2, 4], values: () => values },
      { name: "empty", shape: [0, 3], values: () => new Float32Array(0) },
      { name: "scalar", shape: [], values: () => Promise.resolve(values.subarray(2, 3)) },
    ];
    await writeSafetensors(path, sources, { dtype, metadata: { step: "7" } });
    const file = await SafetensorsFile.open(path);
    assert.deepEqual(file.metadata, { format: "pt", step: "7" });
    assert.equal(file.dataStart % 8, 0);
    assert.deepEqual([...(await file.read("a.weight"))], [...expected[dtype]]);
    assert.deepEqual(await file.read("scalar"), new Float32Array([1]));
    assert.equal((await file.read("empty")).length, 0);
    await assert.rejects(file.read("b"), /it must hold b, got none/);
    await file.close();
  }
});

test("writeSafetensors() and SafetensorsFile.read() convert tensors longer than a piece", async () => {
  const path = join(folder, "long.safetensors");
  const values = new Float32Array((1 << 22) + 3).map((_, i) => i % 251);
  await writeSafetensors(path, [{ name: "w", shape: [values.length], values: () => values }], {
    dtype: "float16",
  });
  const file = await SafetensorsFile.open(path);
  assert.deepEqual(await file.read("w"), values);
  await file.close();
});

test("SafetensorsFile.open() names what is wrong with a damaged file", async () => {
  const refused = async (path: string, message: RegExp) =>
    assert.rejects(SafetensorsFile.open(path), message);
  const f32 = (start: number, end: number, shape = [(end - start) / 4]) => ({
    dtype: "F32",
    shape,
    data_offsets: [start, end],
  });
  const empty = join(folder, "empty");
  await writeFile(empty, "");
  await refused(empty, /must hold a length and a header, in bytes, got 0/);
  await refused(await made({}, 0, 2n ** 60n), /at most 100000000 bytes, got 1152921504606847000/);
  await refused(await made({}, 0, 5000n), /header must fit into the file's 10 bytes, got 5000/);
  await refused(await made("{nonsense", 0), /header must be JSON/);
  await refused(await made("[1]", 0), /header must be an object/);
  await refused(await made({ a: f32(0, 8) }, 4), /hold 8 bytes of tensors .*truncated.*, got 4/);
  await refused(await made({ a: f32(0, 8) }, 12), /hold 8 bytes of tensors .* got 12/);
  await refused(await made({ a: f32(0, 8), b: f32(4, 12) }, 12), /b must not overlap/);
  await refused(await made({ a: f32(0, 8), b: f32(12, 16) }, 16), /b must not leave a gap/);
  await refused(await made({ a: f32(0, 8, [3]) }, 8), /a must have 12 bytes .* got 8/);
  await refused(await made({ a: f32(0, 8, [-2]) }, 8), /shape of a must be a list of sizes/);
  await refused(await made({ a: { ...f32(0, 8), dtype: "F7" } }, 8), /known one, got "F7"/);
  await refused(await made({ a: { ...f32(0, 8), data_offsets: [8] } }, 8), /two positions/);
  await refused(await made({ a: null }, 8), /dtype of a must be a known one/);
});

test("SafetensorsFile.open() reads a damaged file whole or refuses it by name", async () => {
  const whole = await readFile("tests/fixtures/models/qwen2/model.safetensors");
  const headerLength = Number(whole.readBigUInt64LE());
  const random = Random.from(1);
  const path = join(folder, "damaged.safetensors");
  let refused = 0;
  for (let i = 0; i < 300; i++) {
    let bytes = Buffer.from(whole);
    if (i % 3 === 0) bytes = bytes.subarray(0, random.integer(bytes.length));
    else if (i % 3 === 1) bytes[8 + random.integer(headerLength)] = 32 + random.integer(95);
    else bytes[random.integer(8)] = random.integer(256);
    await writeFile(path, bytes);
    try {
      const file = await SafetensorsFile.open(path);
      for (const name of file.tensors.keys()) await file.read(name);
      await file.close();
    } catch (error) {
      assert.match((error as Error).message, /^Cannot read safetensors .*damaged/);
      refused++;
    }
  }
  assert.ok(refused > 200 && refused < 300, `${refused} refused`);
});

test("SafetensorsFile.read() refuses numbers that are not weights", async () => {
  const entry = { dtype: "I64", shape: [1], data_offsets: [0, 8] };
  const file = await SafetensorsFile.open(await made({ ids: entry }, 8));
  await assert.rejects(file.read("ids"), /ids must be F32, F16 or BF16, got I64/);
  await file.close();
});

test("writeSafetensors() leaves the old file and no other when it fails", async () => {
  const inner = await mkdtemp(join(folder, "atomic-"));
  const path = join(inner, "m.safetensors");
  const good = [{ name: "w", shape: [1], values: () => new Float32Array([4]) }];
  await writeSafetensors(path, good);
  const before = await readFile(path);
  const short = [...good, { name: "v", shape: [9], values: () => new Float32Array(3) }];
  await assert.rejects(writeSafetensors(path, short), /v must have 9 values, got 3/);
  await assert.rejects(
    writeSafetensors(path, [...good, ...good]),
    /names must differ, got w twice/,
  );
  assert.deepEqual(await readFile(path), before);
  assert.deepEqual(await readdir(inner), ["m.safetensors"]);
});
