// Tiny random models of every architecture, and of every option that changes what a layer computes, beside what
// transformers and PyTorch computed with them (tools/fixtures/make_architectures.py).
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeDecoder } from "../../src/model/decoder/make-decoder.js";
import { SafetensorsFile } from "../../src/model/files/safetensors-file.js";
import { saveModel } from "../../src/model/files/save-model.js";
import { loadDecoder } from "../../src/model/load/load-decoder.js";
import { loadModel } from "../../src/model/load/load-model.js";
import { addLora } from "../../src/model/lora/add-lora.js";
import { shareRows } from "../../src/model/transformer/sharing.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { ready } from "../../src/tensor/backends.js";
import { gradientsOf } from "../../src/tensor/gradients.js";
import { tf } from "../../src/tensor/tf.js";
import { feed } from "./decoder-suite.js";

const fixtures = "tests/fixtures/architectures";
const names = await readdir(fixtures);
const scratch = await mkdtemp(join(tmpdir(), "arpo-architectures-"));
after(() => rm(scratch, { recursive: true }));
await ready();
const own = tf.getBackend();
const backends = ["cpu", "native", "wasm"].filter((name) => tf.findBackendFactory(name));
after(() => tf.setBackend(own));

interface Expected {
  ids: [number[]];
  /** Of each weight: the norm of its gradient, and its product with cos(0.1 i). */
  gradients: Record<string, [number, number]>;
}

async function expected(name: string): Promise<Expected & { logits: Float32Array }> {
  const text = await readFile(join(fixtures, name, "expected.json"), "utf8");
  const file = await SafetensorsFile.open(join(fixtures, name, "expected.safetensors"));
  const logits = await file.read("logits");
  await file.close();
  return { ...(JSON.parse(text) as Expected), logits };
}

function apart(a: ArrayLike<number>, b: ArrayLike<number>): number {
  assert.equal(a.length, b.length);
  return Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0);
}

const lossOf = (model: Model, ids: number[], checkpointing = false) => {
  const batch = model.batch([ids]);
  const labels = tf.tensor2d([[...ids.slice(1), 0]], [1, ids.length], "int32");
  const { logprobs } = model.logProbs(batch, labels, { checkpointing });
  return logprobs
    .slice([0, 0], [1, ids.length - 1])
    .mean()
    .neg()
    .asScalar();
};

/** How far decoding may be off: a state adds up what rounding has left, PyTorch's too. */
const limitOf = ({ config }: Model) => (config.linear ? 1e-4 : 5e-5);

/** Log-probabilities of every id after each of the tokens, by id. */
function decoded(decoder: ReturnType<typeof makeDecoder>, ids: readonly number[]): Float32Array {
  const [row, vocabulary] = [decoder.open(), decoder.vocabSize];
  const out = new Float32Array(ids.length * vocabulary);
  // The first seven at once, so that steps of one and of many tokens are there.
  for (let at = 0; at < ids.length;) {
    const count = at === 0 ? 7 : 1;
    const { topIds, topLogprobs } = feed(decoder, [[row, ids.slice(at, at + count)]]);
    at += count;
    for (const [i, id] of topIds.entries()) out[(at - 1) * vocabulary + id] = topLogprobs[i]!;
  }
  decoder.close(row);
  return out;
}

for (const backend of backends) {
  test(`every architecture gives the logits of transformers on ${backend}, training and decoding`, async () => {
    await tf.setBackend(backend);
    for (const name of names) {
      const { ids, logits } = await expected(name);
      const model = await loadModel(join(fixtures, name));
      const given = model.logits(model.forward(model.batch(ids)));
      const far = apart(given.dataSync(), logits);
      assert.ok(far < 2e-5 * Math.max(...logits.map(Math.abs)), `${name}: ${far}`);
      const whole = tf.logSoftmax(tf.tensor(logits, given.shape)).dataSync();
      const from = 6 * model.config.vocabSize;
      const { decoder } = await loadDecoder(join(fixtures, name));
      for (const one of [decoder, makeDecoder(model)]) {
        const off = apart(decoded(one, ids[0]).subarray(from), whole.subarray(from));
        assert.ok(off < limitOf(model), `${name}, decoded: ${off}`);
        one.dispose();
      }
      model.dispose();
    }
  });

  test(`every architecture gives the gradients of PyTorch on ${backend}, with checkpointing and without`, async () => {
    await tf.setBackend(backend);
    for (const name of names) {
      const { ids, gradients } = await expected(name);
      const model = await loadModel(join(fixtures, name));
      for (const checkpointing of [false, true]) {
        const found = gradientsOf(
          () => lossOf(model, ids[0], checkpointing),
          model.weights,
        ).gradients;
        assert.deepEqual(Object.keys(found).sort(), Object.keys(gradients).sort());
        for (const [weight, [norm, along]] of Object.entries(gradients)) {
          const values = [...found[weight]!.dataSync()];
          const ours = [
            Math.hypot(...values),
            values.reduce((sum, x, i) => sum + x * Math.cos(0.1 * i), 0),
          ];
          assert.ok(apart(ours, [norm, along]) < 1e-5 + 2e-4 * norm, `${name} ${weight}: ${ours.join()} and ${norm}, ${along}`); // prettier-ignore
        }
      }
      model.dispose();
    }
  });
}

test("every architecture is written and read again with the same logits", async () => {
  await tf.setBackend(own);
  for (const name of names) {
    const { ids } = await expected(name);
    const model = await loadModel(join(fixtures, name));
    const path = join(scratch, name);
    await saveModel(model, path, { dtype: "bfloat16" });
    const again = await loadModel(path);
    assert.deepEqual(again.config, model.config);
    const [a, b] = [model, again].map((one) => one.logits(one.forward(one.batch(ids))).dataSync());
    assert.deepEqual(a, b);
    for (const one of [model, again]) one.dispose();
  }
});

test("rows that begin alike share what they compute, whatever the layers' windows and turns", async () => {
  await tf.setBackend(own);
  for (const name of names) {
    const { ids } = await expected(name);
    const model = await loadModel(join(fixtures, name));
    const rows = [ids[0], [...ids[0].slice(0, 25), 3, 4, 5]];
    const { batch, time, index } = shareRows(rows, model.config);
    const shared = model.forward(batch).dataSync();
    const width = model.config.hiddenSize;
    for (const [r, row] of rows.entries()) {
      const alone = model.forward(model.batch([row])).dataSync();
      const places = row.flatMap((_, t) => {
        const at = index[r * time + t]! * width;
        return [...shared.subarray(at, at + width)];
      });
      assert.ok(apart(places, alone) < 2e-5, name);
    }
    model.dispose();
  }
});

test("adapters train on every architecture, and decoders have what they add", async () => {
  await tf.setBackend(own);
  for (const name of names) {
    const { ids } = await expected(name);
    const model = await loadModel(join(fixtures, name));
    addLora(model, { rank: 2, alpha: 4 });
    const before = lossOf(model, ids[0]).dataSync()[0]!;
    for (let step = 0; step < 4; step++) {
      const { gradients } = gradientsOf(() => lossOf(model, ids[0]), model.trainable);
      for (const [weight, variable] of model.trainable) {
        tf.tidy(() => variable.assign(variable.sub(gradients[weight]!.mul(0.3))));
      }
    }
    model.changed();
    const adapted = tf.logSoftmax(model.logits(model.forward(model.batch(ids)))).dataSync();
    assert.ok(lossOf(model, ids[0]).dataSync()[0]! < before - 0.01, name);
    const decoder = makeDecoder(model);
    const from = 6 * model.config.vocabSize;
    const off = apart(decoded(decoder, ids[0]).subarray(from), adapted.subarray(from));
    assert.ok(off < limitOf(model), `${name}: ${off}`);
    decoder.dispose();
    model.dispose();
  }
});
