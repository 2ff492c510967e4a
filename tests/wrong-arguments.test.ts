import assert from "node:assert/strict";
import { test } from "node:test";
import { advantages } from "../src/learn/advantages.js";
import { HfTokenizer } from "../src/model/tokenizer/hf-tokenizer.js";
import { modelFolder } from "../src/model/files/model-folder.js";
import { Policy } from "../src/policy/policies.js";
import { RemotePolicy } from "../src/policy/remote/remote-policy.js";
import { Random } from "../src/base/random/random.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import { ScriptedPolicy } from "../src/rollout/testing/scripted-policy.js";
import { calculator } from "../src/tools/calculator/calculator.js";

// What a person who writes plain JavaScript got wrong, and what it said then.
const tiny = modelFolder("data/models/tiny");
const policy = await Policy.load(tiny);
const tokens = policy.tokenizer.encode("6*7?");
const random = Random.from(1);
const wrong = <T>(value: unknown): T => value as T;

test("generate() names the argument that is not what it must be", async () => {
  const session = policy.session();
  const row = session.open(tokens);
  const generate = (options?: unknown) => session.generate(row, wrong(options));
  await assert.rejects(generate(), /Cannot generate: options must be an object, got undefined/);
  await assert.rejects(generate(row.tokens), /options must be an object, got a list/);
  await assert.rejects(
    generate({ maxTokens: 3, random, stop: "x" }),
    /Cannot generate: stop must be a list of texts, got "x"/,
  );
  await assert.rejects(
    generate({ maxTokens: 3, random, stop: [5] }),
    /stop must be a list of texts, got 5 in it/,
  );
  await assert.rejects(
    generate({ maxTokens: 3, random: {} }),
    /Cannot generate: random must be a Random, got an object/,
  );
  await assert.rejects(generate({ maxTokens: 3 }), /random must be a Random, got undefined/);
  await assert.rejects(
    session.generate(wrong({ maxTokens: 3 }), { maxTokens: 3, random }),
    /Cannot generate: sequence must be a sequence of this session, got an object/,
  );
  assert.throws(() => session.open(wrong("6*7?")), /tokens must be a list, got "6\*7\?"/);
  session.dispose();
});

test("a session that was disposed opens no more sequences", () => {
  const remote = new RemotePolicy({
    urls: ["http://127.0.0.1:9/v1"],
    model: "m",
    tokenizer: policy.tokenizer,
    contextLength: 64,
  });
  for (const some of [policy, remote]) {
    const session = some.session();
    session.dispose();
    session.dispose();
    assert.throws(
      () => session.open(tokens),
      /Cannot open a sequence: the session must not be over/,
    );
  }
});

test("rollout() refuses tools that are no ToolSet, tasks without a prompt and other slips", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "42\u0001" }));
  const task = { prompt: "6*7?" };
  const refuse = (options: object, message: RegExp) =>
    assert.rejects(rollout(scripted, task, wrong(options)), message);
  const rule = /Cannot roll out: tools must be a list of tools or a ToolSet, got /;
  for (const tools of [5, "calc", null, calculator()]) await refuse({ tools }, rule);
  await refuse({ tools: [calculator] }, /tools must be a list of tools .*, got a function in it/);
  await refuse({ sampling: 1 }, /sampling must be an object, got 1/);
  await refuse({ seed: "7" }, /seed must be an integer of at least 0, got "7"/);
  await refuse({ n: "4" }, /n must be an integer of at least 1, got "4"/);
  await refuse({ scheduling: "fast" }, /scheduling must be one of prompt, lockstep, got "fast"/);
  await refuse({ onEvent: true }, /onEvent must be a function, got true/);
  for (const [given, message] of [
    [{}, /task\.prompt must be text or a list of messages with role and content, got undefined/],
    [{ prompt: [] }, /task\.prompt must be text or a list of messages .*got an empty list/],
    [{ prompt: [{ content: "x" }] }, /task\.prompt must be .*got a list/],
    [
      null,
      /Cannot roll out: the task must be a question \(text\), a chat or \{ prompt \}, got null/,
    ],
    [5, /Cannot roll out: the task must be a question \(text\), a chat or \{ prompt \}, got 5/],
  ] as const) {
    await assert.rejects(rollout(scripted, wrong<typeof task>(given)), message);
  }
  await assert.rejects(
    rollout(wrong({}), task),
    /Cannot roll out: policy must be a policy, got an object/,
  );
  assert.equal(scripted.openSequences, 0);
});

test("a tree refuses to be replayed under a rule that there is not, or followed to no node", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "42\u0001" }));
  const tree = await rollout(scripted, { prompt: "6*7?" });
  assert.throws(
    () => tree.replay(wrong({ rule: "nope" })),
    /Cannot replay: rule must be one of arpo-code, .*got "nope"/,
  );
  assert.throws(
    () => tree.replay(wrong(null)),
    /Cannot replay: changes must be an object, got null/,
  );
  assert.throws(
    () => tree.replay(wrong({ weight: "1" })),
    /weight must be a finite number, got "1"/,
  );
  assert.throws(
    () => tree.path(99),
    /Cannot follow a path: the node must be one of -1 to 0, got 99/,
  );
  await assert.rejects(tree.fork(99), /Cannot fork: the node must be one of 0 to 0, got 99/);
  await assert.rejects(tree.fork(0, wrong(5)), /Cannot fork: changes must be an object, got 5/);
});

test("a tokenizer encodes text and nothing else", async () => {
  const tokenizer = await HfTokenizer.load(tiny);
  for (const value of [5, null, undefined, {}, ["x"]]) {
    assert.throws(() => tokenizer.encode(wrong(value)), /Cannot encode: text must be text, got /);
  }
  assert.throws(() => tokenizer.decode(wrong("x")), /Cannot decode: ids must be a list, got "x"/);
  assert.throws(() => tokenizer.chat(wrong("x")), /Cannot render a chat: messages must be a list/);
});

test("score(null) and advantages(null) say what they need", async () => {
  await assert.rejects(score(wrong(null)), /Cannot score: .*got null/);
  assert.throws(
    () => advantages(wrong(null)),
    /Cannot estimate advantages: scored must be an object/,
  );
  assert.throws(() => advantages(wrong({})), /trajectories must be a list, got undefined/);
});
