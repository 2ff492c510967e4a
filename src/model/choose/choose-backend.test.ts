import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { register } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { nameOf } from "../../tensor/gpu/device.js";
import { ready } from "../../tensor/backends.js";
import { tf } from "../../tensor/tf.js";
import { modelConfig } from "../config.js";
import { chooseBackend, decide, type Surroundings } from "./choose-backend.js";
import { measure, probeShape } from "./measure.js";
import { allRemembered, machineKey, type Remembered, remember, shapeKey } from "./remembered.js";

const config = modelConfig({
  ...{ vocabSize: 40, hiddenSize: 16, intermediateSize: 32, layers: 3, heads: 2, eosIds: [39] },
});
const card = nameOf({ info: { vendor: "nvidia", description: "A Fast Card" } });

/** A machine with a GPU whose times are made up; what was done is written down. */
function machine(changes: Partial<Surroundings> = {}) {
  const measured: string[] = [];
  const said: string[] = [];
  const kept: Remembered[] = [];
  const around: Surroundings = {
    asked: undefined,
    bound: false,
    engine: { backend: "native", on: "avx2" },
    findGpu: () => Promise.resolve(card),
    measure(backend) {
      measured.push(backend);
      return Promise.resolve(
        backend === "webgpu" ? { train: 12.3, decode: 9 } : { train: 120, decode: 1 },
      );
    },
    remembered: () => Promise.resolve(kept),
    remember: (entry) => Promise.resolve(void kept.push(entry)),
    say: (text) => said.push(text),
    ...changes,
  };
  return { around, measured, said, kept };
}

test("a GPU that is faster is taken, for the task it is faster at, in one line with both numbers", async () => {
  const { around, said } = machine();
  const { train, decode } = await decide(config, around);
  assert.deepEqual({ train, decode }, { train: "webgpu", decode: "native" });
  assert.deepEqual(said, [
    "this model trains on webgpu (webgpu 12 ms, native 120 ms) and decodes on native (native 1 ms, webgpu 9 ms), measured now; ARPO_LAB_BACKEND overrides",
  ]);
});

test("what was measured is remembered for that shape of model", async () => {
  const { around, measured, said } = machine();
  await decide(config, around);
  const again = await decide(config, around);
  assert.equal(again.train, "webgpu");
  assert.deepEqual(measured, ["native", "webgpu"]);
  assert.match(said[1]!, /measured before/);
  await decide(modelConfig({ ...config, hiddenSize: 32, headDim: 16 }), around);
  assert.equal(measured.length, 4, "another shape is measured");
});

test("a GPU made of software is never taken, nor measured", async () => {
  for (const info of [
    { vendor: "google", description: "SwiftShader driver 5.0.0" },
    { vendor: "mesa", description: "llvmpipe (LLVM 15.0.6, 256 bits)" },
    { vendor: "unknown", isFallbackAdapter: true },
  ]) {
    const { around, measured } = machine({ findGpu: () => Promise.resolve(nameOf({ info })) });
    const { train, decode } = await decide(config, around);
    assert.deepEqual(
      { train, decode, measured },
      { train: "native", decode: "native", measured: [] },
    );
  }
});

test("with one candidate, or when asked for a backend, nothing is measured or said", async () => {
  for (const changes of [
    { findGpu: () => Promise.resolve(undefined) },
    { asked: "native" },
    { bound: true },
  ]) {
    const { around, measured, said } = machine(changes);
    const { train, decode } = await decide(config, around);
    assert.deepEqual({ train, decode }, { train: "native", decode: "native" });
    assert.deepEqual([...measured, ...said], []);
  }
});

test("a candidate that fails is left out, and said to be", async () => {
  const { around, said } = machine({
    measure: (backend) =>
      backend === "webgpu"
        ? Promise.reject(new Error("device lost"))
        : Promise.resolve({ train: 5, decode: 2 }),
  });
  const { train } = await decide(config, around);
  assert.equal(train, "native");
  assert.match(said[0]!, /webgpu \(nvidia A Fast Card\) is left out: device lost/);
  assert.match(said[1]!, /native 5 ms, webgpu none/);
});

test("measuring times a small model of that shape on the engine, and leaves no tensor", async () => {
  const backend = await ready();
  const before = tf.memory().numTensors;
  const { train, decode } = await measure(backend, config);
  assert.ok(train! > 0 && decode! > 0);
  assert.equal(tf.memory().numTensors, before);
  const probe = probeShape(modelConfig({ ...config, layers: 30, vocabSize: 150_000 }));
  assert.deepEqual([probe.layers, probe.vocabSize, probe.hiddenSize], [2, 16_384, 16]);
});

test("choices are kept in the cache's folder, and a broken file counts as none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "arpo-choice-"));
  const before = process.env["ARPO_LAB_CACHE"];
  process.env["ARPO_LAB_CACHE"] = join(folder, "cache");
  try {
    assert.deepEqual(await allRemembered(), []);
    const entry = {
      machine: "m",
      shape: "s",
      timings: [{ backend: "native" as const, on: "avx2" }],
    };
    await remember(entry);
    await remember({ ...entry, shape: "t" });
    await remember(entry);
    assert.deepEqual(
      (await allRemembered()).map(({ shape }) => shape),
      ["t", "s"],
    );
    await writeFile(join(folder, "cache/backends.json"), '[{"machine": 1}, {"half');
    assert.deepEqual(await allRemembered(), []);
    await writeFile(join(folder, "cache/backends.json"), '[{"machine": "m"}, null]');
    assert.deepEqual(await allRemembered(), []);
  } finally {
    if (before === undefined) delete process.env["ARPO_LAB_CACHE"];
    else process.env["ARPO_LAB_CACHE"] = before;
    await rm(folder, { recursive: true });
  }
});

test("a card that was faster and is gone does not keep a model from running", async () => {
  const absent =
    "export const resolve = (name, context, next) => next(name === 'webgpu' ? 'no-' + name : name, context)";
  register(`data:text/javascript,${encodeURIComponent(absent)}`);
  const folder = await mkdtemp(join(tmpdir(), "arpo-gone-"));
  const { ARPO_LAB_CACHE: cache, ARPO_LAB_BACKEND: asked } = process.env;
  process.env["ARPO_LAB_CACHE"] = folder;
  delete process.env["ARPO_LAB_BACKEND"];
  try {
    const backend = await ready();
    await remember({
      machine: machineKey(),
      shape: shapeKey(config, { tasks: ["train", "decode"], dtype: "float32" }),
      timings: [
        { backend, on: "it", train: 100, decode: 100 },
        { backend: "webgpu", on: "a card", train: 1, decode: 1 },
      ],
    });
    await chooseBackend(config);
    assert.equal(await ready(), backend);
    assert.equal(tf.ones([2]).sum().dataSync()[0], 2);
  } finally {
    if (cache === undefined) delete process.env["ARPO_LAB_CACHE"];
    else process.env["ARPO_LAB_CACHE"] = cache;
    if (asked !== undefined) process.env["ARPO_LAB_BACKEND"] = asked;
    await rm(folder, { recursive: true });
  }
});
