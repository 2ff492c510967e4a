import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { checkConfig } from "../src/doctor/check-config.js";
import { evaluate } from "../src/eval/evaluate.js";
import { advantages, creditOf } from "../src/learn/advantages.js";
import { fineTune, FineTuning } from "../src/learn/sft/fine-tune.js";
import { update } from "../src/learn/update/learner.js";
import { HfTokenizer } from "../src/model/tokenizer/hf-tokenizer.js";
import { modelFolder } from "../src/model/files/model-folder.js";
import { Policy } from "../src/policy/policies.js";
import { RemotePolicy } from "../src/policy/remote/remote-policy.js";
import { Random } from "../src/base/random/random.js";
import { score } from "../src/reward/score-trees.js";
import { rollout } from "../src/rollout/rollout.js";
import { ScriptedPolicy } from "../src/rollout/testing/scripted-policy.js";
import { trainOn } from "../src/run/trainer/train-cells.js";
import { readTasks } from "../src/tasks/read-tasks.js";
import { compareRuns } from "../src/view/figures/curves.js";
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

test("advantages() and its like name what is to be scored first", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "42\u0001" }));
  const tree = await rollout(scripted, "6*7?");
  const must = /Cannot estimate advantages: scored must be what score\(\) found, got a/;
  assert.throws(() => advantages(wrong(tree)), must);
  assert.throws(() => advantages(wrong([tree])), must);
  const unawaited = score(tree, () => 1);
  assert.throws(() => advantages(wrong(unawaited)), /got a Promise.*write await score\(…\) first$/);
  assert.throws(() => creditOf(wrong(tree)), /Cannot give credit: scored must be what score\(\)/);
});

test("update() names what makes a batch of a tree and of what is scored", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "42\u0001" }));
  const tree = await rollout(scripted, "6*7?");
  await assert.rejects(
    update(policy, wrong(tree)),
    /Cannot update: batch must be what advantages\(\) made, got a RolloutTree; write advantages\(await score\(…\)\) first$/,
  );
  await assert.rejects(
    update(policy, wrong(await score(tree, () => 1))),
    /got a Scored; write advantages\(scored\) first$/,
  );
  await assert.rejects(update(policy, wrong(undefined)), /batch must be an object, got undefined/);
});

test("score() refuses a promise, a reward's name and a right answer that is no text, and says what to do", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "42\u0001" }));
  const pending = rollout(scripted, { prompt: "6*7?", groundTruth: "42" });
  await assert.rejects(
    score(wrong(pending), () => 1),
    /there must be a tree or a list of trees, got a Promise \(await it first\)/,
  );
  const tree = await pending;
  await assert.rejects(
    score(tree, wrong("math2")),
    /must be a function or a groupReward, got "math2"; did you mean await loadReward\("math"\)\?$/,
  );
  await assert.rejects(score(tree, wrong("zzzzzz")), /one of deep_research, math,.* loadReward/);
  const numeric = await rollout(
    scripted,
    wrong<{ prompt: string }>({ prompt: "?", groundTruth: 7 }),
  );
  await assert.rejects(
    score(numeric),
    /Cannot score task 0: groundTruth must be text or a list of texts, got 7; write "7"$/,
  );
  const task = { prompt: "?", groundTruth: wrong<string>(7) };
  await assert.rejects(trainOn(policy, [task]), /groundTruth must be text .* got 7; write "7"$/);
});

test("fineTune() takes a prompt with its completion, and says of anything else what it takes", async () => {
  const tuned = wrong<Parameters<typeof fineTune>[0]>(policy);
  const refuse = (one: unknown, message: RegExp) =>
    assert.rejects(fineTune(tuned, [wrong<{ messages: [] }>(one)], { steps: 1 }), message);
  const forms =
    "it must be { messages }, { prompt, completion }, a demonstration or { ids, labels }";
  const must = (got: string) =>
    new RegExp(`^TypeError: Cannot fine-tune on example 0: ${forms}, got ${got}$`);
  await refuse("hello", must('"hello"'));
  await refuse(null, must("null"));
  await refuse({ question: "?", answer: "!" }, must("an object with question, answer"));
  await refuse(
    { prompt: "?", completion: 7 },
    /Cannot fine-tune on example 0: completion must be text or one message of the assistant, got 7; a whole chat is \{ messages \}$/,
  );
  await refuse({ prompt: 7, completion: "!" }, /on example 0: task\.prompt must be text or a list/);
});

test("evaluate() and trainOn() refuse an empty list and other names of options in their own words", async () => {
  await assert.rejects(
    evaluate(policy, []),
    /Cannot evaluate: there must be a task or a benchmark, got an empty list$/,
  );
  await assert.rejects(
    trainOn(policy, []),
    /Cannot train: there must be a list of training tasks, got an empty list$/,
  );
  const tasks = [{ prompt: "?", groundTruth: "!" }];
  await assert.rejects(
    trainOn(policy, tasks, wrong({ lr: 1e-5 })),
    /every option must be known, got lr; did you mean learningRate\?$/,
  );
});

test("compareRuns() says how a folder is read, and that seeds are a list", () => {
  const form = "Cannot compare runs: runs must be \\{ name: \\[metrics of a seed, …\\] \\}, got ";
  const refuse = (runs: unknown, got: string) =>
    assert.throws(() => compareRuns(wrong(runs)), new RegExp(`^TypeError: ${form}${got}`));
  refuse(
    "runs/one",
    '"runs/one"; a run folder is read first: .*RunFolder\\.existing\\("runs/one"\\)',
  );
  refuse({ a: "runs/one" }, '"runs/one" for "a"; a run folder is read first');
  refuse({ a: { steps: [] } }, 'an object for "a"; write \\{ "a": \\[run\\] \\}$');
  refuse([], "an empty list");
});

test("a list of tools with one that is none says which, and what it lacks", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "42\u0001" }));
  const refuse = (odd: unknown, message: RegExp) =>
    assert.rejects(rollout(scripted, "?", { tools: [calculator(), wrong(odd)] }), message);
  await refuse(
    { name: "search", tag: "search" },
    /tools\[1\] \(search\): execute must be a function, got undefined$/,
  );
  await refuse({ execute: () => "" }, /tools\[1\]: tag must be text, got undefined$/);
  await refuse("search", /got "search" in it: tools\[1\] has no tag and no execute$/);
  await refuse(calculator, /tools\[1\] is to be called first, as in calculator\(\)$/);
});

test("Policy.load() says of a hub's id that nothing is downloaded, and of another path what is", async () => {
  await assert.rejects(
    Policy.load("Qwen/Qwen2.5-0.5B-Instruct"),
    /ids of a hub are not downloaded: hf download Qwen\/Qwen2\.5-0\.5B-Instruct --local-dir Qwen2\.5-0\.5B-Instruct, then give the path Qwen2\.5-0\.5B-Instruct$/,
  );
  await assert.rejects(Policy.load("models/none.gguf"), /./);
  await assert.rejects(Policy.load("no-model"), /got none; arpo-lab fetch smollm2 downloads one$/);
});

test("a data file that is not there is named once", async () => {
  const error = await readTasks("no/questions.jsonl").then(
    () => assert.fail("it is not there"),
    (found: unknown) => found,
  );
  assert.equal(inspect(error).match(/questions\.jsonl/g)!.length, 1);
  assert.match(
    String(error),
    /^Error: Cannot read no\/questions\.jsonl: there must be a file, got none$/,
  );
  const path = "no/questions.jsonl";
  const checks = await checkConfig({
    preset: ["arpo", "tiny"],
    overrides: [`data.train_files=${path}`, `data.val_files=${path}`],
    speed: false,
  });
  assert.equal(checks.filter(({ found }) => found.includes(path)).length, 1);
});

test("console.log prints a policy and its model in a line", () => {
  const model = /Model \(qwen2, 4 layers of 128, vocabulary of 608, [\d,]+ parameters\)/.source;
  assert.match(inspect(policy), new RegExp(`^Policy \\(tiny, context 512\\) of ${model}$`));
  assert.match(inspect({ policy }), /policy: Policy \(tiny/);
});

test("console.log prints a small table of scores, trees, evaluations, batches and runs", async () => {
  const scripted = new ScriptedPolicy(() => ({ text: "4\u001b[31m2\u0001" }));
  const tree = await rollout(scripted, "6*7?", { n: 40 });
  const scored = await score(tree, () => ({ score: 1, reason: "kind" }));
  const lines = inspect(scored).split("\n");
  assert.equal(lines[0], "40 trajectories, mean score 1.000");
  assert.match(lines[1]!, /^task +row +score +answer +calls +tokens +end +reason$/);
  assert.equal(lines[2]!.indexOf("kind"), lines[1]!.indexOf("reason"));
  assert.equal(lines.length, 25);
  assert.equal(lines.at(-1), "… 18 more lines; String(value) has all");
  assert.match(inspect(tree), /^RolloutTree: 40 trajectories \(0 branches\)/);
  assert.doesNotMatch(inspect(tree), /\u001b/);
  assert.match(inspect({ tree }), /tree: RolloutTree: 40/);
  const evaluation = await evaluate(scripted, [{ prompt: "?" }], { reward: () => 1 });
  assert.match(inspect(evaluation), /^scripted on 1 task: mean score/);
  assert.match(inspect(advantages(scored)), /trajectories/);
  assert.match(inspect(new FineTuning([])), /^no step$/);
});

test("a key that is like no other gets no wild guess, but what its section has", async () => {
  const [unknown] = await checkConfig({
    preset: ["arpo", "tiny"],
    overrides: ["data.foo=1"],
    speed: false,
  });
  assert.equal(unknown!.found, "there is no key data.foo");
  assert.match(unknown!.fix!, /^remove it: data has train_files, val_files, /);
});
