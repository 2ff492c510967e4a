import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packHalf } from "../../model/files/half.js";
import {
  archive,
  pickle,
  tensor,
  zip,
  type TensorPlace,
  type ZipFaults,
} from "../../../tests/convert/torch-files.js";
import { TorchArchive } from "./torch-archive.js";
import type { TorchTensor } from "./torch-globals.js";

const { call, dict, global, none, text, whole } = pickle;
const folder = await mkdtemp(join(tmpdir(), "arpo-torch-"));
after(() => rm(folder, { recursive: true }));

async function opened(file: Buffer): Promise<TorchArchive> {
  const path = join(folder, "a.pt");
  await writeFile(path, file);
  return TorchArchive.open(path);
}

/** The values of one tensor over one storage. */
async function values(
  place: Omit<TensorPlace, "key" | "length">,
  data: ArrayBufferView & { length: number },
  faults?: ZipFaults,
) {
  const saved = dict({ w: tensor({ key: "0", length: data.length, ...place }) });
  const file = await opened(archive(saved, { 0: data }, faults));
  try {
    return [...(await file.read((file.root as Map<string, TorchTensor>).get("w")!))];
  } finally {
    await file.close();
  }
}

const six = new Float32Array([0, 1, 2, 3, 4, 5]);

test("TorchArchive reads tensors by shape, offset and strides", async () => {
  assert.deepEqual(await values({ shape: [2, 3] }, six), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await values({ shape: [3, 2], strides: [1, 3] }, six), [0, 3, 1, 4, 2, 5]);
  assert.deepEqual(await values({ shape: [2], offset: 3 }, six), [3, 4]);
  assert.deepEqual(await values({ shape: [2, 2], offset: 1, strides: [3, 1] }, six), [1, 2, 4, 5]);
  assert.deepEqual(
    await values({ shape: [2, 1, 2], offset: 1, strides: [2, 99, 1] }, six),
    [1, 2, 3, 4],
  );
  assert.deepEqual(await values({ shape: [3], strides: [0], offset: 5 }, six), [5, 5, 5]);
  assert.deepEqual(await values({ shape: [] }, six), [0]);
  assert.deepEqual(await values({ shape: [0, 4] }, six), []);
  assert.deepEqual(await values({ shape: [2, 3] }, six, { zip64: true }), [0, 1, 2, 3, 4, 5]);
});

test("TorchArchive reads all types of numbers", async () => {
  const shape = [3];
  const read = (kind: string, data: ArrayBufferView & { length: number }) =>
    values({ shape, kind }, data);
  const half = new Float32Array([0.5, -2, 1.25]);
  assert.deepEqual(await read("HalfStorage", packHalf(half, "float16")), [...half]);
  assert.deepEqual(await read("BFloat16Storage", packHalf(half, "bfloat16")), [...half]);
  assert.deepEqual(await read("DoubleStorage", new Float64Array(half)), [...half]);
  assert.deepEqual(await read("LongStorage", new BigInt64Array([1n, -2n, 3n])), [1, -2, 3]);
  assert.deepEqual(await read("IntStorage", new Int32Array([1, -2, 3])), [1, -2, 3]);
  assert.deepEqual(await read("ShortStorage", new Int16Array([1, -2, 3])), [1, -2, 3]);
  assert.deepEqual(await read("CharStorage", new Int8Array([1, -2, 3])), [1, -2, 3]);
  assert.deepEqual(await read("ByteStorage", new Uint8Array([1, 254, 3])), [1, 254, 3]);
  assert.deepEqual(await read("BoolStorage", new Uint8Array([1, 0, 1])), [1, 0, 1]);
});

test("TorchArchive shares storages between tensors", async () => {
  const saved = dict({
    a: tensor({ key: "0", length: 6, shape: [2, 3] }),
    b: call(
      global("torch._utils", "_rebuild_parameter"),
      ...[tensor({ key: "0", length: 6, shape: [3], offset: 2 }), pickle.false, none],
    ),
  });
  const file = await opened(archive(saved, { 0: six }));
  const root = file.root as Map<string, TorchTensor>;
  assert.deepEqual([...(await file.read(root.get("a")!))], [...six]);
  assert.deepEqual([...(await file.read(root.get("b")!))], [2, 3, 4]);
  await file.close();
});

test("TorchArchive refuses tensors that do not lie in their storage", async () => {
  const outside = /must lie in its storage, got 6/;
  await assert.rejects(values({ shape: [7] }, six), outside);
  await assert.rejects(values({ shape: [2], offset: 5 }, six), outside);
  await assert.rejects(values({ shape: [2, 2], strides: [5, 1], offset: 1 }, six), outside);
  // A million times the same value: little in the file, much in memory.
  await assert.rejects(values({ shape: [1e6], strides: [0] }, six), outside);
  await assert.rejects(
    values({ shape: [2 ** 30, 2 ** 30, 2 ** 30], strides: [0, 0, 0] }, six),
    outside,
  );
  await assert.rejects(
    values({ shape: [2], offset: -1 }, six),
    /offset must be a number from 0 up/,
  );
  await assert.rejects(values({ shape: [2], strides: [-1] }, six), /strides must be a tuple/);
  await assert.rejects(values({ shape: [2, 3], strides: [1] }, six), /2 strides must be given/);
  await assert.rejects(
    values({ shape: [6], kind: "ComplexFloatStorage" }, six),
    /ComplexFloatStorage/,
  );
  const lies = dict({ w: tensor({ key: "0", length: 1e9, shape: [1e9] }) });
  const file = await opened(archive(lies, { 0: six }));
  const w = (file.root as Map<string, TorchTensor>).get("w")!;
  await assert.rejects(file.read(w), /data\/0 must have 4000000000 bytes, got 24/);
  await file.close();
  for (const key of ["../data.pkl", "1/../../x", ""]) {
    const leaving = archive(dict({ w: tensor({ key, length: 6, shape: [6] }) }), { 0: six });
    await assert.rejects(opened(leaving), /key must be a word/);
  }
});

test("TorchArchive refuses malicious pickles and says which file", async () => {
  const evil = call(global("posix", "system"), text("touch /tmp/owned"));
  await assert.rejects(opened(archive(dict({ w: evil }), {})), /"posix\.system" \(.*a\.pt\)$/);
});

test("TorchArchive refuses damaged and dishonest archives", async () => {
  const saved = dict({ w: tensor({ key: "0", length: 6, shape: [6] }) });
  const good = archive(saved, { 0: six });
  await (await opened(good)).close();
  for (const cut of [1, 21, 22, 60, good.length >> 1, good.length - 4, good.length - 1]) {
    await assert.rejects(
      opened(good.subarray(0, good.length - cut)),
      SyntaxError,
      `${cut} bytes cut`,
    );
  }
  await assert.rejects(opened(Buffer.alloc(0)), /must be a zip archive/);
  await assert.rejects(opened(whole(none)), /must be a zip archive, as torch.save writes since/);
  const faults = (f: ZipFaults & { order?: string }) => opened(archive(saved, { 0: six }, f));
  await assert.rejects(faults({ method: 8 }), /stored uncompressed \(method 0\), got 8/);
  await assert.rejects(faults({ flags: 1 }), /must not be encrypted/);
  await assert.rejects(faults({ headerName: "archive/data.pk2" }), /header/);
  await assert.rejects(faults({ overlap: true }), /header|overlap/);
  await assert.rejects(faults({ badSum: "archive/data.pkl" }), /the file is damaged/);
  await assert.rejects(faults({ order: "big" }), /little-endian, got "big"/);
  for (const name of ["../evil", "/etc/passwd", "a/../../b", "C:/x", "a\\..\\b", "a/./b", ""]) {
    await assert.rejects(
      opened(zip([[name, Buffer.alloc(1)]])),
      /names must stay within the archive/,
    );
  }
  const twice: [string, Buffer] = ["a/data.pkl", whole(none)];
  await assert.rejects(opened(zip([twice, twice])), /names must differ/);
  await assert.rejects(
    opened(zip([twice, ["b/data.pkl", whole(none)]])),
    /one FOLDER\/data\.pkl, got 2/,
  );
  await assert.rejects(opened(zip([["x", Buffer.alloc(1)]])), /one FOLDER\/data\.pkl, got 0/);
});

test("TorchArchive notices damaged values, also when only some are read", async () => {
  for (const [shape, offset] of [
    [[6], 0],
    [[2], 1],
  ] as const) {
    await assert.rejects(
      values({ shape: [...shape], offset }, six, { badSum: "archive/data/0" }),
      /data\/0 must have checksum .* \(the file is damaged\)/,
    );
  }
});
