import assert from "node:assert/strict";
import { test } from "node:test";
import { makeEnvironment, methodOf, type Environment } from "../../src/environments/environment.js";
import { advantages } from "../../src/learn/advantages.js";
import { Random } from "../../src/base/random/random.js";
import { score } from "../../src/reward/score-trees.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import type { ToolCall } from "../../src/tools/tool.js";
import { loadTrees, saveTrees } from "../../src/rollout/files/tree-files.js";
import { rollout } from "../../src/rollout/rollout.js";
import { toolMetrics } from "../../src/rollout/tree/metrics.js";
import { treesFromJsonl, treesToJsonl } from "../../src/rollout/files/tree-jsonl.js";
import type { RolloutOptions } from "../../src/rollout/options.js";
import type { RolloutTree } from "../../src/rollout/rollout-tree.js";
import { CloneableDice, counts, Dice, gambler } from "./dice.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const tasks = ["a", "b", "c", "d"].map((prompt) => ({ prompt, raw: true, id: `task-${prompt}` }));
const branching: RolloutOptions = {
  ...{ n: 12, initialRollouts: 3, beamSize: 3, branchProbability: 0.9, seed: 4, callLimit: 12 },
};
const grow = (environment: RolloutOptions["environment"], options: RolloutOptions = {}) =>
  rollout(gambler(), tasks, { ...branching, environment, ...options });
/** Bytes without the name of the class. */
const bytes = (trees: Iterable<RolloutTree>) =>
  treesToJsonl(trees, { timing: false }).replaceAll("CloneableDice", "Dice");

/** What an instance does when it takes calls alone. */
async function alone(made: Environment, tree: RolloutTree, trajectory: number) {
  const signal = new AbortController().signal;
  const random = Random.from(tree.seed).split(tree.index).split("environment").split("reset");
  const said = await made.reset(tree.task, { random, signal });
  const call: ToolCall = { signal, timeoutMs: 1000, attempt: 0 };
  const texts: string[] = [];
  const path = tree.path(tree.trajectories[trajectory]!.leaf);
  for (const { tool } of path) {
    if (!tool) continue;
    const result = await methodOf(made, tool.tag)(tool.input, call);
    texts.push(typeof result === "string" ? result : result.text);
  }
  return { said, texts, result: path.flatMap(({ tool }) => (tool ? [tool.text] : [])) };
}

test("each trajectory, branches too, stands where the same calls alone would have led", async () => {
  for (const environment of [Dice, CloneableDice]) {
    const trees = await grow(environment);
    assert.ok(trees.some(({ trajectories }) => trajectories.some(({ kind }) => kind === "branch")));
    for (const tree of trees) {
      for (const { id, outcome } of tree.trajectories) {
        const made = new environment();
        const { said, texts, result } = await alone(made, tree, id);
        assert.deepEqual(result, texts);
        assert.equal(tree.environment!.observation, said);
        assert.ok(tree.prompt.text.endsWith(`\n${said}`));
        assert.deepEqual(outcome, made.reward());
      }
    }
  }
});

test("clones and repeated calls give the same bytes, whatever the workers, and again", async () => {
  const reference = bytes(await grow(Dice));
  assert.equal(bytes(await grow(CloneableDice)), reference);
  assert.equal(bytes(await grow(Dice, { tools: new ToolSet([], { maxWorkers: 1 }) })), reference);
  assert.equal(bytes(await grow(CloneableDice, { promptsAtOnce: 1 })), reference);
  assert.notEqual(bytes(await grow(Dice, { seed: 5 })), reference);
});

test("lockstep rounds and AEPO's probes act in environments too", async () => {
  const lockstep = { scheduling: "lockstep", dynamicRollouts: true } as const;
  assert.equal(bytes(await grow(CloneableDice, lockstep)), bytes(await grow(Dice, lockstep)));
});

test("every instance is disposed once, also where something fails", async () => {
  for (const environment of [Dice, CloneableDice]) {
    Object.assign(counts, { made: 0, disposed: 0, twice: 0, clones: 0 });
    await grow(environment);
    assert.ok(counts.made > 20 && counts.twice === 0, JSON.stringify(counts));
    assert.equal(counts.disposed, counts.made);
    assert.equal(counts.clones > 0, environment === CloneableDice);
    const stop = new AbortController();
    const stopped = grow(environment, {
      signal: stop.signal,
      onEvent: ({ type }) => type === "result" && stop.abort(new Error("enough")),
    });
    await assert.rejects(stopped, /enough/);
    assert.deepEqual([counts.disposed, counts.twice], [counts.made, 0]);
  }
});

test("a tree from a file forks in its environment: the calls before the fork are taken again", async () => {
  const [tree] = await grow(Dice);
  const folder = await mkdtemp(join(tmpdir(), "episodes-"));
  try {
    for (const name of ["trees.jsonl", "trees.parquet"]) {
      await saveTrees(join(folder, name), [tree!]);
      const [read] = await loadTrees<(typeof tasks)[number]>(join(folder, name));
      assert.deepEqual(read!.environment, tree!.environment);
      assert.deepEqual(read!.trajectories, tree!.trajectories);
      const node = tree!.nodes.find(({ kind, parent }) => kind === "tool" && parent > 0)!.id;
      const policy = gambler();
      await assert.rejects(read!.fork(node, { policy }), /made in environment Dice and needs it/);
      const forks: RolloutTree[] = [];
      for (const environment of [Dice, CloneableDice]) {
        forks.push(await read!.fork(node, { policy, environment, seed: 9, n: 6 }));
      }
      assert.equal(bytes([forks[0]!]), bytes([forks[1]!]));
      // A fork of the fork, with a third seed, still draws from the first tree's environment.
      const again = await forks[0]!
        .fork(forks[0]!.nodes.at(-1)!.id, { at: 0, seed: 10 })
        .catch((error: unknown) => {
          assert.match(String(error), /cuts what the model wrote/);
          return forks[0]!;
        });
      for (const forked of [forks[0]!, again]) {
        for (const { id } of forked.trajectories) {
          const found = await alone(
            new Dice(),
            { ...forked, path: forked.path.bind(forked), seed: 4 } as never,
            id,
          );
          assert.deepEqual(found.result, found.texts);
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a fork at a call makes it in the environment; an edited answer stands, the call is made all the same", async () => {
  const [tree] = await grow(Dice);
  const call = tree!.nodes.find(
    ({ id, stop }) => stop === "</bet>" && tree!.nodes.some(({ parent }) => parent === id),
  )!;
  const answer = tree!.nodes.find(({ parent }) => parent === call.id)!;
  const made = await tree!.fork(call.id, { n: 1 });
  const after = ({ nodes }: RolloutTree) =>
    nodes.filter(({ tool, trajectory }) => tool && trajectory === -1);
  assert.equal(after(made).at(-1)!.tool!.text, answer.tool!.text);
  const edited = await tree!.fork(call.id, { n: 1, result: "You win 100." });
  assert.equal(after(edited).at(-1)!.tool!.text, "You win 100.");
  // The purse is as if nothing had been edited.
  const purse = ({ trajectories }: RolloutTree) => trajectories[0]!.outcome!;
  assert.deepEqual(purse(made), purse(edited));
  const plain = await rollout(gambler(), tasks[0]!, { n: 2 });
  await assert.rejects(plain.fork(0, { at: 0, environment: Dice }), /made without an environment/);
});

test("rewards of calls and of the end reach scores, metrics and the last token the policy wrote", async () => {
  const trees = await grow(CloneableDice);
  const scored = await score(trees);
  for (const { trajectory, score: found } of scored.trajectories) {
    const { outcome, end } = trees[trajectory.tree]!.trajectories[trajectory.id]!;
    assert.equal(found.score, outcome!.score);
    assert.equal(found.parts!["throws"], outcome!.parts!["throws"]);
    const bets = trajectory.toolCalls.filter(({ tag }) => tag === "bet");
    assert.ok(bets.every(({ reward }) => reward === 1 || reward === -1));
    assert.equal(end === "done", bets.length >= 6);
  }
  assert.ok(scored.trajectories.some(({ trajectory }) => trajectory.end === "done"));
  const batch = advantages(scored, { estimator: "rloo" });
  for (const { trajectory, returns } of batch.trajectories) {
    if (trajectory.end === "done") assert.ok(returns[trajectory.lossMask.lastIndexOf(1)] !== 0);
  }
  for (const { trajectory, turnRewards } of scored.trajectories) {
    const earned = trajectory.toolCalls.map(({ reward = 0 }) => reward);
    if (trajectory.toolCalls.some(({ reward }) => reward !== undefined)) {
      assert.deepEqual(turnRewards!.slice(0, earned.length), earned);
    }
  }
  for (const estimator of ["mt_grpo", "turn_baseline"] as const) {
    const { trajectories } = advantages(scored, { estimator });
    assert.ok(
      trajectories.every((trajectory) => trajectory.advantages.every(Number.isFinite)),
      estimator,
    );
    assert.ok(
      trajectories.some((trajectory) => trajectory.advantages.some((value) => value !== 0)),
    );
  }
  const metrics = toolMetrics(trees);
  assert.ok(metrics["tools/bet/calls"]! > 0 && metrics["tools/count/success_rate"] === 1);
  const sums = await score(await grow(() => Object.assign(new Dice(), { reward: undefined })));
  for (const { trajectory, score: found } of sums.trajectories) {
    const earned = trajectory.toolCalls.reduce((sum, { reward = 0 }) => sum + reward, 0);
    assert.equal(found.score, earned);
  }
});

test("tools and an environment go together; a tag of both is refused", async () => {
  const policy = new ScriptedPolicy(({ turn }) => ({
    text: ["<calc>1+1</calc>", "<count>all</count>", "\u0001"][turn]!,
  }));
  const tools = new ToolSet([calculator()]);
  const tree = await rollout(policy, { prompt: "q" }, { tools, environment: Dice });
  assert.deepEqual(
    tree.selected[0]!.toolCalls.map(({ tag }) => tag),
    ["calc", "count"],
  );
  const counting = new ToolSet([{ ...calculator(), tag: "count" }]);
  await assert.rejects(
    rollout(policy, { prompt: "q" }, { tools: counting, environment: Dice }),
    /Cannot use environment Dice: each tag may be used once, got count of a tool too/,
  );
});

const once = (text = "<bet>1</bet>") =>
  new ScriptedPolicy(({ turn }) => ({ text: turn === 0 ? text : "\u0001" }));

test("faults of an environment are named with its task", async () => {
  const task = { prompt: "q", id: "shop-3" };
  const faulty = (change: object) => () => Object.assign(new Dice(), change);
  const fails = (change: object, message: RegExp) =>
    assert.rejects(rollout(once(), task, { environment: faulty(change) }), message);
  const broken = () => {
    throw new Error("the shelf fell");
  };
  await fails(
    { reset: broken },
    /Cannot reset environment environment for task shop-3: the shelf fell/,
  );
  await fails({ reset: () => 5 }, /it must say text or nothing, got number/);
  await fails({ reward: broken }, /Cannot reward environment .* for task shop-3: the shelf fell/);
  await fails({ reward: () => NaN }, /its reward must be a finite number.*, got NaN/);
  await fails({ clone: broken }, /Cannot clone environment .*: the shelf fell/);
  await fails({ tools: { other: "" } }, /it must have a method other for its tool, got undefined/);
  await fails({ tools: { reset: "" } }, /a tool must have another name than reset/);
  await assert.rejects(
    rollout(once(), task, { environment: (() => 5) as never }),
    /it must have tools and a reset, got 5/,
  );
  await assert.rejects(
    rollout(once(), task, { environment: 5 as never }),
    /environment must be a function, got 5/,
  );
  const same: Environment = {
    tools: { bet: "" },
    reset: () => "",
    bet: () => "x",
    clone: () => same,
  } as never;
  await assert.rejects(
    rollout(once(), task, { environment: () => same }),
    /another instance, got the same/,
  );
});

test("a method that throws is a failed call that the model reads, once", async () => {
  let calls = 0;
  const environment = () =>
    Object.assign(new Dice(), {
      bet: () => {
        calls++;
        throw new Error("no such stake");
      },
    });
  const tree = await rollout(once(), { prompt: "q" }, { environment, n: 1 });
  const [call] = tree.selected[0]!.toolCalls;
  assert.deepEqual([call!.ok, call!.failure!.message, calls], [false, "no such stake", 1]);
  assert.equal(tree.trajectories[0]!.outcome!.reason, "0 throws");
});

test("after a call without an answer the environment is lost to the trajectory, and the score says why", async () => {
  const environment = () =>
    Object.assign(new Dice(), { bet: () => new Promise<string>(() => undefined) });
  const policy = new ScriptedPolicy(({ turn }) => ({
    text: turn < 2 ? "<bet>1</bet>" : "\u0001",
  }));
  const tools = new ToolSet([], { timeoutMs: 30 });
  const tree = await rollout(policy, { prompt: "q" }, { environment, tools, callLimit: 5 });
  const [first, second] = tree.selected[0]!.toolCalls;
  assert.equal(first!.failure!.kind, "timeout");
  assert.match(second!.failure!.message, /the environment could not go on: <bet> gave no answer/);
  const { trajectories } = await score(tree);
  assert.equal(trajectories[0]!.score.score, 0);
  assert.match(
    trajectories[0]!.score.reason,
    /could not go on: <bet> gave no answer within 0\.03 s/,
  );
});

test("an environment that answers otherwise the second time is refused", async () => {
  let world = 0;
  class Moody extends Dice {
    override count() {
      return `${world++}`;
    }
  }
  const policy = new ScriptedPolicy(({ turn, options: { random } }) => ({
    text: turn < 3 ? "<count>all</count>" : "\u0001",
    confidence: 0.3 + 0.7 * random.uniform(),
  }));
  const options = { ...branching, initialRollouts: 1, branchProbability: 1, environment: Moody };
  await assert.rejects(
    rollout(policy, { prompt: "q", id: "m" }, options),
    /Cannot rebuild environment Moody for task m: call 1, <count>all<\/count>, must answer as before, "0"/,
  );
  let said = 0;
  class Changing extends Dice {
    override reset() {
      return `${said++}`;
    }
  }
  await assert.rejects(
    rollout(policy, { prompt: "q" }, { ...options, environment: Changing }),
    /it must say the same every time, "0" at first, got "1"/,
  );
});

test("an observation joins what the user said last, and a chat endpoint would get it", async () => {
  const prompt = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Play." },
  ];
  const messages: unknown[] = [];
  const policy = gambler();
  const session = policy.session.bind(policy);
  policy.session = () => {
    const made = session();
    return {
      ...made,
      open: (tokens, options) => {
        messages.push(options?.messages);
        return made.open(tokens, options);
      },
    };
  };
  const tree = await rollout(policy, { prompt }, { environment: Dice, callLimit: 0 });
  const content = `Play.\n${tree.environment!.observation}`;
  assert.deepEqual(messages[0], [prompt[0], { role: "user", content }]);
  assert.deepEqual(tree.task.prompt, prompt);
  assert.deepEqual(treesFromJsonl(treesToJsonl([tree]))[0]!.environment, tree.environment);
});

test("makeEnvironment() takes classes and functions, also ones that wait", async () => {
  for (const source of [Dice, () => new Dice(), () => Promise.resolve(new Dice())]) {
    assert.ok((await makeEnvironment(source)) instanceof Dice);
  }
});
