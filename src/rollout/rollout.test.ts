import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../base/random/random.js";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import type { Tool } from "../tools/tool.js";
import { rollout } from "./rollout.js";
import { rolloutPresets } from "./presets.js";
import type { RolloutOptions } from "./options.js";
import type { RolloutTree } from "./rollout-tree.js";
import { randomTextPolicy } from "./testing/random-text-policy.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";

const tasks = [{ prompt: "one" }, { prompt: "two?" }, { prompt: "three!" }];

/** Everything of a tree that the same seed must give again: all but measured times. */
function content(tree: RolloutTree): unknown {
  const nodes = tree.nodes.map((node) => ({ ...node, run: undefined }));
  return JSON.parse(JSON.stringify({ ...tree, nodes }));
}

const settings: RolloutOptions = {
  ...rolloutPresets.arpo,
  n: 8,
  initialRollouts: 3,
  beamSize: 3,
  responseLength: 90,
  seed: 5,
};

/** A calculator that takes its time. */
function slowly(ms: () => number): Tool {
  const calc = calculator();
  return {
    ...calc,
    execute: async (input, call) => {
      await sleep(ms()); // slow: a tool
      return calc.execute(input, call);
    },
  };
}

test("rollout() gives the same trees for any number of workers and any timing", async () => {
  const noise = Random.from(99);
  const wanted = await rollout(randomTextPolicy(), tasks, {
    ...settings,
    tools: new ToolSet([calculator()]),
  });
  for (const maxWorkers of [1, 3, 64]) {
    const tools = new ToolSet([slowly(() => noise.integer(4))], { maxWorkers });
    const policy = randomTextPolicy(() => sleep(noise.integer(3)));
    const trees = await rollout(policy, tasks, { ...settings, tools });
    assert.deepEqual(trees.map(content), wanted.map(content));
    assert.equal(policy.openSequences, 0);
  }
});

test("rollout() counts branchings along a path whatever the timing: a trajectory may be a round ahead", async () => {
  const noise = Random.from(7);
  for (let seed = 0; seed < 12; seed++) {
    const options: RolloutOptions = {
      ...{ ...settings, ...rolloutPresets.aepo, n: 12, initialRollouts: 3, seed },
      ...{ penalty: "path", beamSize: 3, responseLength: 400 },
      tools: new ToolSet([calculator()]),
    };
    const wanted = await rollout(randomTextPolicy(), tasks, { ...options, scheduling: "lockstep" });
    const timed = randomTextPolicy(() => sleep(noise.integer(4)));
    const trees = await rollout(timed, tasks, { ...options, responseLength: 400 });
    for (const [i, tree] of trees.entries()) {
      const counts = (t: RolloutTree) =>
        t.nodes.flatMap(({ branch = [] }) => branch.map(({ consecutive }) => consecutive));
      assert.deepEqual(counts(tree), counts(wanted[i]!));
    }
  }
});

test("rollout() of a batch in parts gives the trees of the whole", async () => {
  const options = { ...settings, tools: new ToolSet([calculator()]) };
  const whole = await rollout(randomTextPolicy(), tasks, options);
  const first = await rollout(randomTextPolicy(), tasks.slice(0, 1), options);
  const rest = await rollout(randomTextPolicy(), tasks.slice(1), { ...options, firstIndex: 1 });
  assert.deepEqual([...first, ...rest].map(content), whole.map(content));
});

test("rollout() in rounds and row by row decides the same for one prompt", async () => {
  for (let seed = 0; seed < 30; seed++) {
    const common: RolloutOptions = {
      ...settings,
      ...(seed % 2 ? rolloutPresets.aepo : {}),
      n: 9,
      initialRollouts: 2,
      beamSize: 4,
      callLimit: 3,
      responseLength: 4000,
      penalty: seed % 3 ? "prompt" : "path",
      entropyTiming: seed % 5 ? "before-result" : "after-result",
      baseline: seed % 7 ? "own" : "ancestor",
      dynamicRollouts: seed % 4 === 3,
      seed,
      tools: new ToolSet([calculator()]),
    };
    const [alone] = await rollout(randomTextPolicy(), [tasks[1]!], common);
    const [rounds] = await rollout(randomTextPolicy(), [tasks[1]!], {
      ...common,
      scheduling: "lockstep",
    });
    const a = content(alone!) as { config: object };
    const b = content(rounds!) as { config: object };
    assert.deepEqual({ ...a, config: {} }, { ...b, config: {} });
  }
});

test("rollout() gives a prompt the same tree whoever shares the batch", async () => {
  const tools = new ToolSet([calculator()]);
  const [alone] = await rollout(randomTextPolicy(), [tasks[0]!], { ...settings, tools });
  const [first] = await rollout(randomTextPolicy(), tasks, { ...settings, tools });
  assert.deepEqual(content(alone!), content(first!));
});

test("rollout() grows only so many trees at a time, which changes none", async () => {
  const tools = new ToolSet([calculator()]);
  const all = await rollout(randomTextPolicy(), tasks, { ...settings, tools });
  let open = 0;
  let most = 0;
  const one = await rollout(randomTextPolicy(), tasks, {
    ...settings,
    tools,
    promptsAtOnce: 1,
    onEvent: ({ type }) => {
      if (type === "trajectory") most = Math.max(most, ++open);
      if (type === "end") open--;
    },
  });
  assert.deepEqual(one.map(content), all.map(content));
  assert.ok(most <= settings.n!);
});

test("rollout() does not branch on entropies that a policy cannot tell", async () => {
  const policy = new ScriptedPolicy(({ turn }) => ({
    text: turn ? "x\u0001" : "<calc>1</calc>",
    confidence: NaN,
  }));
  const tools = new ToolSet([calculator()]);
  const options = { n: 4, initialRollouts: 2, beamSize: 2, branchProbability: 1, tools };
  await assert.rejects(
    rollout(policy, tasks[0]!, { ...options, entropy: { measure: "mean" } }),
    /needs a segment's entropy, got NaN: policy scripted does not report what .* "mean" is made of/,
  );
  // Tokens without a log-prob count as certain, as RemotePolicy.entropyMeaning says.
  const tree = await rollout(policy, tasks[0]!, options);
  assert.deepEqual(
    tree.nodes.flatMap((node) => node.branch ?? []).map(({ entropy, branch }) => [entropy, branch]),
    [
      [0, true],
      [0, true],
    ],
  );
});

test("rollout() never exceeds its budgets", async () => {
  const random = Random.from(8);
  for (let i = 0; i < 60; i++) {
    const n = 1 + random.integer(10);
    const options: RolloutOptions = {
      rule: random.choose(["arpo-code", "arpo-paper", "seed-docs", "aepo-code", "aepo-paper"]),
      n,
      initialRollouts: 1 + random.integer(n),
      beamSize: 1 + random.integer(5),
      branchProbability: random.uniform(),
      entropyWeight: random.uniform() * 3,
      responseLength: 20 + random.integer(200),
      callLimit: random.integer(4),
      dynamicRollouts: random.uniform() < 0.3,
      scheduling: random.choose(["prompt", "lockstep"]),
      seed: i,
      tools: new ToolSet([calculator()]),
    };
    for (const tree of await rollout(randomTextPolicy(), tasks, options)) {
      assert.equal(tree.selected.length, n);
      assert.ok(tree.trajectories.length <= n);
      for (const t of tree.selected) {
        assert.ok(t.tokens.length <= options.responseLength!);
        assert.ok(t.toolCalls.length <= options.callLimit!);
        assert.equal(t.text.length, t.tokens.filter((id) => id > 1).length);
      }
      const attempts = tree.nodes.flatMap((node) => node.branch ?? []);
      const children = attempts.flatMap(({ child }) => (child === undefined ? [] : [child]));
      assert.deepEqual(
        children.sort((a, b) => a - b),
        tree.trajectories
          .filter((trajectory) => trajectory.kind === "branch")
          .map((trajectory) => trajectory.id),
      );
      for (const { remaining, branch, child } of attempts) {
        assert.ok(remaining > 0);
        assert.equal(branch, child !== undefined);
      }
    }
  }
});

test(
  "rollout() waits for nobody: trajectories continue while others write",
  { timeout: 20_000 },
  async () => {
    // The first trajectory to write does not end its first segment before another is in its third round.
    let release: () => void = () => undefined;
    const far = new Promise<void>((resolve) => (release = resolve));
    let held: number | undefined;
    const policy = new ScriptedPolicy(async ({ sequence: trajectory, turn }) => {
      held ??= trajectory;
      if (trajectory === held && turn === 0) await far;
      if (turn === 2) release();
      return { text: turn < 3 ? "<calc>1</calc>" : "x\u0001" };
    });
    const tools = new ToolSet([calculator()]);
    const tree = await rollout(policy, tasks[0]!, { n: 4, beamSize: 2, initialRollouts: 2, tools });
    assert.equal(tree.selected.length, 4);
  },
);

test("rollout() closes its session when it is stopped, and passes the reason on", async () => {
  for (const scheduling of ["prompt", "lockstep"] as const) {
    const stop = new AbortController();
    let turns = 0;
    const policy = randomTextPolicy(async () => {
      if (++turns === 12) stop.abort(new Error("interrupted"));
      await sleep(2); // slow: a model
    });
    const tools = new ToolSet([slowly(() => 5)]);
    const running = rollout(policy, tasks, { ...settings, scheduling, tools, signal: stop.signal });
    await assert.rejects(running, /interrupted/);
    assert.equal(policy.openSequences, 0);
  }
  const never = AbortSignal.abort(new Error("too late"));
  await assert.rejects(rollout(randomTextPolicy(), tasks, { signal: never }), /too late/);
});

test("rollout() passes on what a policy throws and closes its session", async () => {
  for (const scheduling of ["prompt", "lockstep"] as const) {
    let calls = 0;
    const policy = new ScriptedPolicy(async () => {
      await sleep(1); // slow: a model
      if (++calls === 5) throw new Error("device lost");
      return { text: "<calc>1</calc>" };
    });
    const tools = new ToolSet([calculator()], { callLimit: 4 });
    await assert.rejects(rollout(policy, tasks, { n: 4, scheduling, tools }), /device lost/);
    assert.equal(policy.openSequences, 0);
  }
});

test("rollout() ends trajectories as the rules say", async () => {
  const script: Record<string, (turn: number) => string> = {
    answer: () => "yes\u0001",
    "bad-call": () => "<calc>  </calc>",
    "call-limit": () => "<calc>1</calc>",
    length: () => "z".repeat(500),
  };
  const policy = new ScriptedPolicy(({ text, turn }) => ({
    text: script[text.split(":")[1]!.trim()]!(turn),
  }));
  const trees = await rollout(
    policy,
    Object.keys(script).map((name) => ({ prompt: `${name}:` })),
    { tools: new ToolSet([calculator()], { callLimit: 2 }), responseLength: 100 },
  );
  assert.deepEqual(
    trees.map(({ trajectories }) => trajectories[0]!.end),
    Object.keys(script),
  );
  const [, bad, limit, long] = trees;
  assert.equal(bad!.trajectories[0]!.calls, 1);
  assert.equal(limit!.trajectories[0]!.calls, 2);
  assert.equal(limit!.metrics["tools/call_limit_reached_count"], 1);
  const { tokens, lossMask, logprobs } = limit!.selected[0]!;
  assert.deepEqual([tokens.at(-1), lossMask.at(-1), logprobs.at(-1)], [1, 1, NaN]);
  assert.equal(long!.selected[0]!.tokens.length, 100);
});

test("rollout() ends a trajectory whose context is full, during text or before a result", async () => {
  const writer = new ScriptedPolicy(() => ({ text: "z".repeat(500) }), { contextLength: 50 });
  const full = await rollout(writer, { prompt: "abc", raw: true });
  assert.equal(full.trajectories[0]!.end, "context");
  assert.equal(full.selected[0]!.tokens.length, 47);
  const caller = new ScriptedPolicy(() => ({ text: "<calc>1</calc>" }), { contextLength: 30 });
  const tools = new ToolSet([calculator()]);
  const tree = await rollout(caller, { prompt: "abc", raw: true }, { tools });
  assert.equal(tree.trajectories[0]!.end, "context");
  assert.equal(tree.selected[0]!.text, "<calc>1</calc>");
  assert.equal(tree.metrics["tools/total_calls"], 1);
});

test("rollout() looks for a call's opening tag in the response only, unless asked", async () => {
  const policy = new ScriptedPolicy(({ turn }) => ({ text: turn ? "ok\u0001" : "2</calc>" }));
  const task = { prompt: "Use <calc>1+1</calc>.", raw: true };
  const tools = new ToolSet([calculator()]);
  assert.equal((await rollout(policy, task, { tools })).trajectories[0]!.end, "bad-call");
  const old = await rollout(policy, task, { tools, compat: { searchPrompt: true } });
  assert.equal(old.nodes[1]!.tool!.input, "1+1</calc>.2");
});

test("rollout() validates with one greedy trajectory", async () => {
  let temperature: number | undefined;
  const policy = new ScriptedPolicy(({ options }) => {
    ({ temperature } = options);
    return { text: "<calc>1</calc>" };
  });
  const tools = new ToolSet([calculator()]);
  const tree = await rollout(policy, tasks[0]!, {
    ...rolloutPresets.arpo,
    branchProbability: 1,
    mode: "validate",
    tools,
  });
  assert.equal(tree.trajectories.length, 1);
  assert.equal(temperature, 0);
  assert.equal(
    tree.nodes.some((node) => node.branch),
    false,
  );
});

test("rollout() decides AEPO's first trajectories by entropy", async () => {
  // The root is as unsure as can be, the steps of the probe are certain: start wide.
  const policy = new ScriptedPolicy(({ options }) => ({
    text: "x".repeat(20) + "\u0001",
    confidence: options.maxTokens === 50 ? 0.5 : 1,
  }));
  const options = { ...rolloutPresets.aepo, n: 8, seed: 1 };
  const tree = await rollout(policy, tasks[0]!, {
    ...options,
    dynamicRollouts: { beta: 9 },
  });
  assert.equal(tree.monitor!.initialRollouts, 8);
  assert.equal(tree.trajectories.filter((trajectory) => trajectory.kind === "initial").length, 8);
  const flat = await rollout(policy, tasks[0]!, { ...options, dynamicRollouts: { beta: 0 } });
  assert.equal(flat.monitor!.initialRollouts, 5);
});

test("rollout() lets a probe that a tool's answer takes past the response length write once more", async () => {
  // "<calc>1+1</calc>" and its answer are longer than the 30 tokens of a response.
  const policy = new ScriptedPolicy(({ turn, options }) => ({
    text: options.maxTokens === 50 || turn > 0 ? "\u0001" : "<calc>1+1</calc>",
  }));
  const tree = await rollout(policy, tasks[0]!, {
    n: 2,
    responseLength: 30,
    callLimit: 1,
    dynamicRollouts: true,
    tools: new ToolSet([calculator()]),
  });
  assert.equal(tree.monitor!.stepEntropies.length, 2);
});

test("rollout() makes as many attempts per trajectory as asked", async () => {
  const policy = randomTextPolicy();
  const tools = new ToolSet([calculator()]);
  const common = { n: 30, initialRollouts: 2, branchProbability: 0, entropyWeight: 0, tools };
  const count = async (more: RolloutOptions) => {
    const tree = await rollout(policy, tasks[0]!, { ...common, ...more });
    return new Set(tree.nodes.flatMap((node) => (node.branch ? [node.branch.length] : [])));
  };
  assert.deepEqual(await count({ beamSize: 3 }), new Set([2]));
  assert.deepEqual(await count({ beamSize: 3, attemptsPerTrajectory: 3 }), new Set([3]));
});

test("rollout() starts with no more than n trajectories, as the reference, and says so once", async (t) => {
  const said = t.mock.method(process.stderr, "write", () => true);
  const options = { ...rolloutPresets.arpo, n: 4 };
  const tree = await rollout(randomTextPolicy(), tasks[0]!, options);
  await rollout(randomTextPolicy(), tasks[0]!, options);
  const lines = said.mock.calls.map(({ arguments: [line] }) => line);
  said.mock.restore();
  assert.deepEqual(
    [tree.config.initialRollouts, tree.config.n, tree.trajectories.length],
    [4, 4, 4],
  );
  assert.ok(tree.trajectories.every(({ kind }) => kind === "initial"));
  assert.deepEqual(lines, [
    "arpo-lab: initialRollouts 8 is more than n 4: a tree starts with 4, and none is left to branch\n",
  ]);
});

test("rollout() refuses settings that make no sense", async () => {
  const policy = randomTextPolicy();
  const refuse = (options: RolloutOptions, message: RegExp) =>
    assert.rejects(rollout(policy, tasks[0]!, options), message);
  await refuse({ n: 0 }, /n must be an integer of at least 1, got 0/);
  await refuse(
    { branchProbability: NaN },
    /branchProbability must be a number from 0 to 1, got NaN/,
  );
  await refuse({ rule: "best" as "arpo-code" }, /rule must be one of arpo-code, .*, got "best"/);
  await assert.rejects(
    rollout(new ScriptedPolicy(() => ({ text: "" }), { contextLength: 3 }), tasks[0]!),
    /shorter than the policy's context of 3 tokens, got \d+/,
  );
  assert.equal(policy.openSequences, 0);
});
