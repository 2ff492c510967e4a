import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tasks } from "../../tasks/tasks/index.js";
import { advantages } from "../../learn/advantages.js";
import { Learner } from "../../learn/update/learner.js";
import type { TrainingBatch } from "../../learn/batch.js";
import { addLora } from "../../model/lora/add-lora.js";
import { loadAdapter } from "../../model/lora/load-adapter.js";
import type { Model } from "../../model/transformer/transformer.js";
import { Random } from "../../base/random/random.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { ToolSet } from "../../tools/tool-set.js";
import { TinkerError, TinkerLostAnswer, TinkerSessionOver } from "./client/errors.js";
import { openTinker } from "./engine.js";
import type { Fault, FakeServerOptions } from "./testing/fake-server.js";
import { adaptersOf, apart, farModel, lora, nearTrainee, smallModel, tokenizer } from "./testing/near-and-far.js"; // prettier-ignore
import type { TinkerPolicy } from "./tinker-policy.js";

const task = tasks.calc({ train: 1, test: 1 }).train[0]!;
const options = { learningRate: 3e-3, maxNorm: Infinity };

async function sequencesOf(far: TinkerPolicy): Promise<TrainingBatch> {
  const growing = { n: 4, initialRollouts: 4, responseLength: 12, tools: new ToolSet(), seed: 1 };
  const tree = await rollout(far, task, growing);
  return advantages(await score(tree, ({ response }) => (response.length % 7) / 7));
}

/** One update through a server that fails as told, and how far the result is from our own. */
async function updated(t: TestContext, base: Model, faults: Partial<FakeServerOptions>) {
  const said: string[] = [];
  const note = (line: string) => void said.push(line);
  const { server, far } = await farModel(t, base, faults, { note });
  const near = nearTrainee(base, options);
  const before = adaptersOf(near.model);
  const batch = await sequencesOf(far);
  await new Learner(far.trainee, options).update(batch);
  await new Learner(near, options).update(batch);
  const found = apart(before, await server.adapters(), adaptersOf(near.model));
  near.model.dispose();
  return { ...found, server, far, said: said.join("\n") };
}

/** A fault of the first request to a path. */
const first =
  (where: string, fault: Fault) =>
  (path: string, count: number): Fault | undefined =>
    path === where && count === 0 ? fault : undefined;

test("a server that is busy is asked again, as late as it says and with fewer samples at once", async (t) => {
  const base = await smallModel();
  const busy = { status: 429, headers: { "retry-after": "0" } };
  const paths = ["asample", "forward", "forward_backward", "optim_step", "retrieve_future"];
  const fault = (path: string, count: number) =>
    paths.includes(path) && count < 2 ? busy : undefined;
  const { relative, server } = await updated(t, base, { fault });
  assert.ok(relative < 1e-3, String(relative));
  assert.equal(server.count("optim_step"), 3);
  base.dispose();
});

test("faults of a server are outlived where nothing can be done twice", async (t) => {
  const base = await smallModel();
  const faults: [string, Fault][] = [
    ["forward", { status: 502 }],
    ["forward", "broken after"],
    ["asample", { status: 500 }],
    ["asample", "broken before"],
    ["retrieve_future", { status: 503 }],
    ["retrieve_future", "broken after"],
    ["retrieve_future", { status: 408 }],
  ];
  for (const [path, fault] of faults) {
    const { relative } = await updated(t, base, { fault: first(path, fault) });
    assert.ok(relative < 1e-3, `${path}: ${relative}`);
  }
  base.dispose();
});

for (const [when, fault, posts, word] of [
  ["after it was taken", "broken after", 1, /it was taken/],
  ["before it was taken", "broken before", 2, /not taken, and it is taken now/],
] as const) {
  test(`an optimiser step whose answer is lost ${when} is taken once`, async (t) => {
    const base = await smallModel();
    const broken = await updated(t, base, { fault: first("optim_step", fault) });
    assert.ok(broken.relative < 1e-3, String(broken.relative));
    assert.equal(broken.server.count("optim_step"), posts);
    assert.equal(broken.far.trainee.steps, 1);
    assert.match(broken.said, word);
    base.dispose();
  });
}

test("a lost answer to a gradient ends the update, and what was saved continues", async (t) => {
  const base = await smallModel();
  const { server, far } = await farModel(t, base, {
    fault: (path, count) =>
      path === "forward_backward" && count === 1 ? "broken after" : undefined,
  });
  const batch = await sequencesOf(far);
  const learner = new Learner(far.trainee, options);
  await learner.update(batch);
  const saved = await far.save("one");
  assert.equal(saved.steps, 1);
  const lost = learner.update(batch);
  await assert.rejects(lost, (error) => error instanceof TinkerLostAnswer && error.call === "forward_backward"); // prettier-ignore
  await assert.rejects(learner.update(batch), /the gradient at the server must be known.*resume/s);
  assert.equal(server.count("optim_step"), 1);

  await far.resume(saved);
  await learner.update(batch);
  const near = nearTrainee(base, options);
  const before = adaptersOf(near.model);
  const here = new Learner(near, options);
  await here.update(batch);
  await here.update(batch);
  const found = apart(before, await server.adapters(), adaptersOf(near.model));
  assert.ok(found.relative < 1e-3, String(found.relative));
  near.model.dispose();
  base.dispose();
});

test("work that never ends is given up after its time, and can be called off before", async (t) => {
  const base = await smallModel();
  const { far } = await farModel(t, base, {}, { workMs: 2_000 });
  const { far: stuck } = await farModel(
    t,
    base,
    { tryAgain: (path) => (path === "asample" ? Infinity : 0) },
    { workMs: 300 },
  );
  const one = { maxTokens: 2, random: Random.from(1) };
  const session = stuck.session();
  const endless = session.generate(session.open([1]), one);
  await assert.rejects(endless, /must be done within 300 ms, got no end of it/);
  const { far: patient } = await farModel(t, base, {
    tryAgain: (path) => (path === "asample" ? Infinity : 0),
  });
  const stop = new AbortController();
  const waiting = patient.session();
  const off = waiting.generate(waiting.open([1]), { ...one, signal: stop.signal });
  stop.abort(new Error("called off"));
  await assert.rejects(off, /called off/);
  const fine = far.session();
  assert.ok((await fine.generate(fine.open([1]), one)).tokens.length > 0);
  base.dispose();
});

test("a session that the server ended is told as such, and resumed in a new one", async (t) => {
  const base = await smallModel();
  const { server, far } = await farModel(t, base);
  const batch = await sequencesOf(far);
  const learner = new Learner(far.trainee, options);
  await learner.update(batch);
  const saved = await far.save();
  const kept = await server.adapters();
  server.expire();
  await assert.rejects(learner.update(batch), (error) => error instanceof TinkerSessionOver);
  await assert.rejects(learner.update(batch), /Tinker session must be alive.*resumed in a new one/);
  await far.resume(saved);
  assert.deepEqual(await server.adapters(), kept);
  await learner.update(batch);
  assert.equal(far.trainee.steps, 2);
  base.dispose();
});

test("another program continues from what one saved, moments included", async (t) => {
  const base = await smallModel();
  const { server, far } = await farModel(t, base);
  const batch = await sequencesOf(far);
  await new Learner(far.trainee, options).update(batch);
  const resume = await far.save();
  const again = await openTinker(server.url, { tokenizer, resume });
  t.after(() => again.close());
  await new Learner(again.trainee, options).update(batch);
  const near = nearTrainee(base, options);
  const before = adaptersOf(near.model);
  for (let i = 0; i < 2; i++) await new Learner(near, options).update(batch);
  const found = apart(before, await server.adapters(), adaptersOf(near.model));
  assert.ok(found.relative < 1e-3, String(found.relative));
  assert.equal(again.trainee.steps, 2);
  near.model.dispose();
  base.dispose();
});

for (const reduction of ["sum", "mean"] as const) {
  test(`adapters come back as PEFT's files (${reduction})`, async (t) => {
    const base = await smallModel();
    const { server, far } = await farModel(t, base, { reduction });
    const folder = await mkdtemp(join(tmpdir(), "arpo-tinker-"));
    t.after(() => rm(folder, { recursive: true }));
    await far.fetchAdapter(folder);
    assert.ok((await readdir(folder)).includes("adapter_config.json"));
    const model = base.copy();
    addLora(model, { ...lora, seed: 99, alpha: 32 });
    await loadAdapter(model, folder);
    assert.deepEqual(adaptersOf(model), await server.adapters());
    model.dispose();
    base.dispose();
  });
}

test("what a server refuses is told in its words, and a key in none", async (t) => {
  const base = await smallModel();
  const { server } = await farModel(t, base);
  process.env["FAKE_TINKER_KEY"] = "secret-of-mine";
  t.after(() => delete process.env["FAKE_TINKER_KEY"]);
  const asked = { tokenizer, apiKeyEnv: "FAKE_TINKER_KEY", backoffMs: 1 };
  const much = openTinker(server.url, { ...asked, lora: { rank: 64 } });
  await assert.rejects(much, /LoRA rank 64 must be between 1 and 32.*lora.rank is 64/);
  assert.equal(server.asked.at(-1)!.headers["x-api-key"], "secret-of-mine");
  assert.ok(!JSON.stringify(server.asked.map(({ body }) => body)).includes("secret"));

  const elsewhere = openTinker("http://tinker.example", asked);
  await assert.rejects(elsewhere, (error: Error) => /url must be https where a key is sent/.test(error.message) && !error.message.includes("secret")); // prettier-ignore
  const none = openTinker(server.url, { tokenizer, apiKeyEnv: "NO_SUCH_KEY_HERE" });
  await assert.rejects(none, /NO_SUCH_KEY_HERE must hold a key, got none/);
  const unknown = openTinker(server.url, { tokenizer, model: "gone" });
  await assert.rejects(unknown, /model must be one of tiny, got gone/);
  const query = openTinker(`${server.url}?key=secret`, { tokenizer });
  await assert.rejects(query, (error: Error) => /without a query/.test(error.message) && !error.message.includes("secret")); // prettier-ignore

  const detail = "no such key: secret-of-mine";
  const denied = await farModel(
    t,
    base,
    {
      fault: (path, count) =>
        path === "forward" && count > 0 ? { status: 401, detail } : undefined,
    },
    { apiKeyEnv: "FAKE_TINKER_KEY" },
  );
  const reading = denied.far.logProbs([{ prompt: [1], tokens: [2] }]);
  await assert.rejects(reading, (error) => error instanceof TinkerError && /401: no such key: …$/.test(error.message)); // prettier-ignore
  assert.equal(denied.server.count("forward"), 2);
  base.dispose();
});
