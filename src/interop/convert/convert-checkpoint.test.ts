import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadModel } from "../../model/load/load-model.js";
import { Model } from "../../model/transformer/transformer.js";
import { modelConfig } from "../../model/config.js";
import { packHalf, unpackHalf } from "../../model/files/half.js";
import { saveModel } from "../../model/files/save-model.js";
import { compareCheckpoints } from "./compare-checkpoints.js";
import { convertCheckpoint } from "./convert-checkpoint.js";
import { openFolder } from "./open-checkpoint.js";
import { openShards } from "./open-shards.js";
import { archive, dtensor, pickle, placement, tensor } from "../../../tests/convert/torch-files.js";

const root = await mkdtemp(join(tmpdir(), "arpo-convert-"));
after(() => rm(root, { recursive: true }));
let serial = 0;
const fresh = async () => {
  const folder = join(root, `${serial++}`);
  await mkdir(folder);
  return folder;
};

const bf16 = (values: ArrayLike<number>) => {
  const out = new Float32Array(values.length);
  unpackHalf(packHalf(Float32Array.from(values), "bfloat16"), "bfloat16", out);
  return out;
};

/** A part of a tensor on one rank. */
interface Piece {
  values: Float32Array;
  shape: number[];
  whole?: number[];
  placements?: Buffer[];
}

/** Writes ranks' pieces as shards. Without placements a tensor is a plain one. */
async function writeShards(
  folder: string,
  ranks: Record<string, Piece>[],
  mesh = { names: ["fsdp"], shape: [ranks.length] },
  world = ranks.length,
): Promise<void> {
  for (const [rank, pieces] of ranks.entries()) {
    const size = mesh.shape.reduce((a, b) => a * b, 1);
    const storages: Record<string, ArrayBufferView> = {
      m: BigInt64Array.from({ length: size }, (_, i) => BigInt(i)),
    };
    const saved: Record<string, Buffer> = {};
    for (const [i, [name, { values, shape, whole, placements }]] of Object.entries(
      pieces,
    ).entries()) {
      storages[`${i}`] = values;
      const local = tensor({ key: `${i}`, length: values.length, shape });
      const ranksOf = { key: "m", length: size, shape: mesh.shape };
      saved[name] = placements
        ? dtensor(local, whole ?? shape, placements, { names: mesh.names, ranks: ranksOf })
        : local;
    }
    const file = archive(pickle.dict(saved), storages);
    await writeFile(join(folder, `model_world_size_${world}_rank_${rank}.pt`), file);
  }
}

const range = (n: number, from = 0) => Float32Array.from({ length: n }, (_, i) => from + i);
const [shard, copy] = [(dim: number) => [placement("Shard", dim)], [placement("Replicate")]];

test("openShards() joins parts along their dimension, in rank order, and takes copies once", async () => {
  const folder = await fresh();
  const rows = { shape: [1, 2], whole: [3, 2], placements: shard(0) };
  const columns = { whole: [2, 4], placements: shard(1) };
  await writeShards(folder, [
    {
      rows: { values: range(4), shape: [2, 2], whole: [3, 2], placements: shard(0) },
      columns: { values: range(6), shape: [2, 3], ...columns },
      last: { values: range(2), shape: [1, 2], whole: [1, 4], placements: shard(-1) },
      copy: { values: range(3, 7), shape: [3], placements: copy },
      plain: { values: range(2, 20), shape: [2] },
    },
    {
      rows: { values: range(2, 4), ...rows },
      columns: { values: range(2, 6), shape: [2, 1], ...columns },
      last: { values: range(2, 2), shape: [1, 2], whole: [1, 4], placements: shard(-1) },
      copy: { values: range(3, 70), shape: [3], placements: copy },
      plain: { values: range(1, 30), shape: [1] },
    },
  ]);
  const source = await openShards(folder);
  const read = async (name: string) => [...(await source.read(name))];
  assert.deepEqual([...source.tensors.keys()], ["columns", "copy", "last", "plain", "rows"]);
  assert.deepEqual(source.tensors.get("rows")!.shape, [3, 2]);
  assert.deepEqual(await read("rows"), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await read("columns"), [0, 1, 2, 6, 3, 4, 5, 7]);
  assert.deepEqual(await read("last"), [0, 1, 2, 3]);
  assert.deepEqual(await read("copy"), [7, 8, 9]);
  assert.deepEqual(await read("plain"), [20, 21, 30]);
  await source.close();
});

test("openShards() drops the dimension of copies of a (ddp, fsdp) mesh", async () => {
  const folder = await fresh();
  const part = (from: number) => ({
    w: { values: range(2, from), shape: [2], whole: [4], placements: [...copy, ...shard(0)] },
  });
  // Of four ranks the last two repeat the first two; their files need not even be there.
  await writeShards(folder, [part(0), part(2)], { names: ["ddp", "fsdp"], shape: [2, 2] }, 4);
  const source = await openShards(folder);
  assert.deepEqual([...(await source.read("w"))], [0, 1, 2, 3]);
  await source.close();
});

test("openShards() refuses what it would join wrongly", async () => {
  const part = (shape: number[], placements?: Buffer[], whole?: number[]) => ({
    w: { values: range(shape.reduce((a, b) => a * b, 1)), shape, placements, whole },
  });
  const cases: [Parameters<typeof writeShards>[1], RegExp, Parameters<typeof writeShards>[2]?][] = [
    [
      [part([2], shard(0)), part([2], shard(0))],
      /\(fsdp\) or \(ddp, fsdp\), got \(fsdp,tp\)/,
      { names: ["fsdp", "tp"], shape: [1, 2] },
    ],
    [[part([2], [placement("Partial")])], /placed as Shard or Replicate, got a Partial/],
    [[part([2], [placement("_StridedShard", 0)])], /got a _StridedShard/],
    [[part([2], shard(1))], /cut along one of its 1 dimensions, got 1/],
    [[part([2], [...shard(0), ...shard(0)])], /a placement for each dimension/],
    [[part([2], shard(0), [4]), part([1], shard(0), [4])], /must make \[4\], got \[3\]/],
    [
      [part([2, 2], shard(0), [4, 2]), part([2, 3], shard(0), [4, 2])],
      /agree but for dimension 0, got \[2,3\]/,
    ],
    [[part([2], shard(0), [4]), part([2], copy, [4])], /all ranks must cut w alike/],
    [[part([2], shard(0), [2]), { x: part([2], shard(0)).w }], /the same names, got w/],
    [
      [part([2], shard(0), [2]), { ...part([2], shard(0)), x: part([2]).w }],
      /the same names, got x/,
    ],
    [[part([], undefined)], /must have a dimension to join/],
  ];
  for (const [ranks, expected, mesh] of cases) {
    const folder = await fresh();
    await writeShards(folder, ranks, mesh);
    await assert.rejects(openShards(folder), expected);
  }
  const missing = await fresh();
  await writeShards(missing, [part([2], shard(0), [4])], { names: ["fsdp"], shape: [2] }, 2);
  await assert.rejects(openShards(missing), /ENOENT/);
  const two = await fresh();
  await writeShards(two, [part([2])], undefined, 1);
  await writeShards(two, [part([2]), part([2])], undefined, 2);
  await assert.rejects(openShards(two), /hold one model_world_size_W_rank_0.pt, got W = 1, 2/);
  const list = await fresh();
  await writeFile(join(list, "model_world_size_1_rank_0.pt"), archive(pickle.list(), {}));
  await assert.rejects(openShards(list), /a dict of named tensors, got a list of 0/);
});

const config = modelConfig({
  ...{ vocabSize: 50, hiddenSize: 16, intermediateSize: 24, layers: 2, heads: 2, eosIds: [3] },
  ...{ family: "qwen2", tied: true },
});

/** A model as verl saves it on two ranks: every tensor cut along dimension 0, the tied matrix too. */
async function verlCheckpoint(tiedAs = (values: Float32Array) => values) {
  const [hf, verl] = [await fresh(), await fresh()];
  await saveModel(Model.init(config, 5), hf);
  const source = await openFolder(hf);
  const ranks: Record<string, Piece>[] = [{}, {}];
  const cut = (name: string, values: Float32Array, whole: readonly number[]) => {
    const half = Math.ceil(whole[0]! / 2);
    const row = values.length / whole[0]!;
    const placements = shard(0);
    const add = (rank: number, from: number, to: number) => {
      const shape = [to - from, ...whole.slice(1)];
      const part = values.slice(from * row, to * row);
      ranks[rank]![name] = { values: part, shape, whole: [...whole], placements };
    };
    add(0, 0, half);
    add(1, half, whole[0]!);
  };
  for (const [name, { shape }] of source.tensors) cut(name, await source.read(name), shape);
  const embeddings = await source.read("model.embed_tokens.weight");
  cut("lm_head.weight", tiedAs(embeddings), [50, 16]);
  await source.close();
  await writeShards(verl, ranks);
  await mkdir(join(verl, "huggingface"));
  const text = await readFile(join(hf, "config.json"));
  await writeFile(join(verl, "huggingface", "config.json"), text);
  await writeFile(join(verl, "huggingface", "tokenizer.json"), `{"a": 1}`);
  await writeFile(join(verl, "huggingface", "secrets.txt"), "not copied");
  return { hf, verl };
}

test("convertCheckpoint() merges verl's shards to a folder that loads, in bfloat16", async () => {
  const { hf, verl } = await verlCheckpoint();
  const to = await fresh();
  const done = await convertCheckpoint(verl, to);
  assert.equal(done.dtype, "bfloat16");
  assert.deepEqual(done.tied, ["lm_head.weight"]);
  assert.deepEqual((await readdir(to)).sort(), [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
  ]);
  assert.equal(JSON.parse(await readFile(join(to, "config.json"), "utf8")).torch_dtype, "bfloat16");
  assert.equal((await loadModel(to)).config.layers, 2);
  const [from, merged] = [await openFolder(hf), await openFolder(to)];
  assert.deepEqual([...merged.tensors.keys()], [...from.tensors.keys()]);
  for (const name of from.tensors.keys()) {
    assert.equal(merged.tensors.get(name)!.type, "bfloat16");
    assert.deepEqual(await merged.read(name), bf16(await from.read(name)), name);
  }
  await from.close();
  await merged.close();

  // All the precision there is, when it is asked for.
  const exact = await fresh();
  await convertCheckpoint(verl, exact, { dtype: "float32" });
  assert.equal((await compareCheckpoints(exact, hf)).match, true);
  assert.equal((await compareCheckpoints(verl, hf, { dtype: "float32" })).match, true);
  assert.equal((await compareCheckpoints(verl, to)).match, true);
});

test("convertCheckpoint() refuses a tied matrix with other values, and shards without a config", async () => {
  const { verl } = await verlCheckpoint((values) => values.map((v) => v + 1));
  const to = join(root, "never");
  await assert.rejects(convertCheckpoint(verl, to), /lm_head.weight must equal model.embed_tokens/);
  await rm(join(verl, "huggingface"), { recursive: true });
  await assert.rejects(convertCheckpoint(verl, to), /must hold config\.json.*--base/);
  assert.ok(!existsSync(to));
});

test("convertCheckpoint() leaves what was there when a weight is broken", async () => {
  const { verl } = await verlCheckpoint();
  const to = await fresh();
  await convertCheckpoint(verl, to);
  const before = await readFile(join(to, "model.safetensors"));
  const broken = await fresh();
  const values = new Float32Array([1, NaN]);
  await writeShards(broken, [{ w: { values, shape: [2] } }]);
  const base = join(verl, "huggingface");
  await assert.rejects(convertCheckpoint(broken, to, { base }), /must be finite.* NaN in w at 1/);
  assert.deepEqual(await readFile(join(to, "model.safetensors")), before);
  assert.deepEqual((await readdir(to)).sort(), [
    "config.json",
    "model.safetensors",
    "tokenizer.json",
  ]);
});

test("convertCheckpoint() writes a folder in another type and in other shards, and back", async () => {
  const { hf } = await verlCheckpoint();
  const [half, back] = [await fresh(), await fresh()];
  await convertCheckpoint(hf, half, { dtype: "float16", maxShardBytes: 2000 });
  assert.ok(existsSync(join(half, "model.safetensors.index.json")));
  assert.equal((await loadModel(half)).config.layers, 2);
  assert.equal((await convertCheckpoint(half, back)).dtype, "float16"); // as it was
  assert.ok(existsSync(join(back, "model.safetensors")));
  assert.equal((await compareCheckpoints(half, back)).match, true);
  const { match, rows } = await compareCheckpoints(hf, half);
  assert.equal(match, false);
  assert.ok(rows.every(({ verdict }) => verdict === "types differ"));
  assert.equal((await compareCheckpoints(hf, half, { dtype: "float16" })).match, true);
});

test("compareCheckpoints() tells what differs, by how much", async () => {
  const folder = async (w: Float32Array, rest: Record<string, Piece>) => {
    const made = await fresh();
    await writeShards(made, [{ w: { values: w, shape: [3] }, ...rest }]);
    return made;
  };
  const one = { values: range(1), shape: [1] };
  const from = await folder(new Float32Array([1, 2, 3]), {
    a: one,
    s: { values: range(2), shape: [2] },
  });
  const to = await folder(new Float32Array([1, 2.5, 3.0000002]), {
    b: one,
    s: { values: range(2), shape: [1, 2] },
  });
  const { match, rows } = await compareCheckpoints(from, to, { dtype: "float32" });
  assert.equal(match, false);
  assert.deepEqual(
    rows.map(({ name, verdict }) => [name, verdict]),
    [
      ["a", "extra"],
      ["b", "missing"],
      ["s", "shapes differ"],
      ["w", "values differ"],
    ],
  );
  const w = rows.at(-1)!;
  assert.deepEqual([w.differing, w.beyond, w.largest], [2, 1, 0.5]);
  const near = await folder(new Float32Array([1, 2, 3.0000002]), {
    a: one,
    s: { values: range(2), shape: [2] },
  });
  assert.equal((await compareCheckpoints(from, near, { dtype: "float32" })).match, true);
  assert.equal(
    (await compareCheckpoints(from, near, { dtype: "float32", tolerance: 0 })).match,
    false,
  );
  const nan = await folder(new Float32Array([1, NaN, 3]), {
    a: one,
    s: { values: range(2), shape: [2] },
  });
  assert.equal((await compareCheckpoints(from, nan)).match, false);
});
