import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ByteTokenizer } from "../../tests/policy/byte-tokenizer.js";
import { decoderShape, decoderWeights } from "../model/decoder/of-model.js";
import { Model } from "../model/transformer/transformer.js";
import { PlainDecoder } from "../model/decoder/plain.js";
import { LocalPolicy } from "../policy/local-policy.js";
import type { Policy } from "../policy/policies.js";
import { Random } from "../base/random/random.js";
import { calculator } from "../tools/calculator/calculator.js";
import { ToolSet } from "../tools/tool-set.js";
import { rollout } from "./rollout.js";
import { rolloutPresets } from "./presets.js";
import { treesToJsonl } from "./files/tree-jsonl.js";
import type { RolloutOptions } from "./options.js";
import type { RolloutTree } from "./rollout-tree.js";
import { randomTextPolicy } from "./testing/random-text-policy.js";
import { ScriptedPolicy } from "./testing/scripted-policy.js";

const tasks = [{ prompt: "one" }, { prompt: "two?" }, { prompt: "three!" }];
const tools = () => new ToolSet([calculator()], { callLimit: 3 });

/** Settings that make many kinds of trees, as a seed says. */
function settings(seed: number): RolloutOptions {
  const random = Random.from(seed).split("settings");
  const pick = <T>(...of: T[]): T => of[random.integer(of.length)]!;
  const n = 2 + random.integer(14);
  return {
    ...pick<RolloutOptions>(rolloutPresets.arpo, rolloutPresets.aepo, {}),
    rule: pick("arpo-code", "arpo-paper", "seed-docs", "aepo-code", "aepo-paper"),
    n,
    initialRollouts: 1 + random.integer(n),
    beamSize: 1 + random.integer(4),
    branchProbability: random.uniform(),
    entropyWeight: random.uniform(),
    responseLength: 20 + random.integer(200),
    penalty: pick("prompt", "path"),
    entropyTiming: pick("before-result", "after-result"),
    baseline: pick("own", "ancestor"),
    dynamicRollouts: pick(true, false),
    scheduling: pick("prompt", "prompt", "lockstep"),
    seed,
  };
}

/** Trees as their file keeps them, line by line, without the times that were measured. */
const lines = (trees: readonly RolloutTree[]) =>
  treesToJsonl(trees)
    .trim()
    .split("\n")
    .flatMap((line) => {
      const tree = JSON.parse(line) as { nodes: { run?: unknown }[] };
      for (const node of tree.nodes) delete node.run;
      return JSON.stringify(tree, null, 1).split("\n");
    });

async function both(policy: () => Policy, options: RolloutOptions) {
  let alone = 0;
  let together = 0;
  const one = await rollout(policy(), tasks, {
    ...{ ...options, tools: tools(), refillsAhead: false },
    onEvent: ({ type }) => void (type === "segment" && alone++),
  });
  const ahead = await rollout(policy(), tasks, {
    ...{ ...options, tools: tools() },
    onEvent: ({ type }) => void (type === "segment" && together++),
  });
  assert.deepEqual(lines(ahead), lines(one), `seed ${options.seed}`);
  assert.equal(together, alone); // Nothing is told of what was dropped.
  return one.flatMap((tree) => tree.trajectories);
}

test("refills written together give the trees of one at a time, byte for byte, on 50 settings", async () => {
  let refills = 0;
  let between = 0;
  for (let seed = 0; seed < 50; seed++) {
    const wait = Random.from(seed);
    const timed = seed % 3 === 0 ? () => sleep(wait.integer(3)) : undefined;
    const trajectories = await both(() => randomTextPolicy(timed), settings(seed));
    refills += trajectories.filter(({ kind }) => kind === "refill").length;
    // A branch that took the number of a trajectory that was begun.
    between += trajectories.filter(
      ({ kind }, i) => kind === "branch" && trajectories[i - 1]?.kind === "refill",
    ).length;
  }
  assert.ok(refills > 100, `${refills} refills`);
  assert.ok(between > 10, `${between} branches behind refills`);
});

/** A model of random weights that writes bytes and calls. */
function randomPolicy(fed: (tokens: number) => void = () => undefined) {
  const tokenizer = new ByteTokenizer(["<calc>", "</calc>"]);
  const shape = { hiddenSize: 16, intermediateSize: 32, layers: 2, heads: 4, kvHeads: 2 };
  const config = { vocabSize: tokenizer.vocabSize, contextLength: 256, ...shape };
  const model = Model.init({ ...config, initializerRange: 0.1 }, 3);
  const decoder = new PlainDecoder(decoderShape(model.config), () => decoderWeights(model));
  const step = decoder.step.bind(decoder);
  decoder.step = (trajectories, tokens, offsets, sampling) => {
    for (let i = 0; i < trajectories.length; i++) fed(offsets[i + 1]! - offsets[i]!);
    return step(trajectories, tokens, offsets, sampling);
  };
  const policy = new LocalPolicy({ name: "random", tokenizer, decoder });
  const allowedIds = [...tokenizer.encode("123+- "), 256, 257, tokenizer.eosId];
  const dispose = () => {
    policy.dispose();
    model.dispose();
  };
  return { policy, allowedIds, dispose };
}

test("a prompt is read once for all trajectories of its tree, probes and refills among them", async () => {
  const pieces: number[] = [];
  const { policy, allowedIds, dispose } = randomPolicy((tokens) => pieces.push(tokens));
  const prompt = "p".repeat(100);
  const tree = await rollout(
    policy,
    { prompt, raw: true },
    {
      ...{ n: 8, initialRollouts: 3, dynamicRollouts: true, responseLength: 20 },
      sampling: { allowedIds },
    },
  );
  assert.ok(tree.trajectories.some(({ kind }) => kind === "refill"));
  const long = pieces.filter((tokens) => tokens > 20);
  assert.deepEqual(long, [99]);
  dispose();
});

test("refills of a model written together give the trees of one at a time", async () => {
  const { policy, allowedIds, dispose } = randomPolicy();
  for (let seed = 0; seed < 6; seed++) {
    const options = { ...settings(seed), n: 6, initialRollouts: 2, responseLength: 40 };
    const trajectories = await both(() => policy, {
      ...options,
      sampling: { allowedIds },
      compat: { searchPrompt: true },
    });
    assert.ok(trajectories.length > 6);
  }
  dispose();
});

test("refills are written together: a policy that calls no tool is waited for twice", async () => {
  let waves = 0;
  let most = 0;
  let running = 0;
  const policy = new ScriptedPolicy(async () => {
    if (running++ === 0) waves++;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running--;
    return { text: "no\u0001" };
  });
  const options = { n: 16, initialRollouts: 8, beamSize: 2 };
  await rollout(policy, tasks[0]!, options);
  assert.deepEqual([waves, most], [2, 8]);
  waves = 0;
  await rollout(policy, tasks[0]!, { ...options, refillsAhead: false });
  assert.equal(waves, 9);
  assert.equal(policy.openSequences, 0);
});

test("what a branch makes needless is stopped, and its trajectory given back", async () => {
  const stopped: string[] = [];
  let first = true;
  const policy = new ScriptedPolicy(async ({ text, sequence: trajectory, options: { signal } }) => {
    if (text.includes("<result>")) return { text: "done\u0001" };
    // The first trajectory ends, the next calls and branches while the others are still being written.
    if (first) {
      first = false;
      return { text: "no\u0001" };
    }
    if (trajectory === 2) return { text: "<calc>1+1</calc>" };
    await sleep(20, undefined, { signal }).catch(() => stopped.push("one")); // slow: a long segment
    return { text: "late\u0001" };
  });
  const tree = await rollout(policy, tasks[0]!, {
    ...{ n: 4, initialRollouts: 1, beamSize: 2, branchProbability: 1, tools: tools() },
  });
  assert.deepEqual(
    tree.trajectories.map(({ kind }) => kind),
    ["initial", "refill", "branch", "refill"],
  );
  assert.equal(stopped.length, 1);
  assert.equal(policy.openSequences, 0);
});

test("refills at an endpoint stand in line unless it is asked otherwise", async () => {
  let begun = 0;
  const counted = () => {
    const inner = new ScriptedPolicy(({ turn, text }) => {
      begun++;
      return { text: turn + text.length > 99 ? "\u0001" : "no\u0001" };
    });
    return Object.assign(inner, { sampler: "remote" as const });
  };
  await assert.rejects(
    rollout(counted(), tasks[0]!, { n: 9, initialRollouts: 1, refillsAhead: 1 as never }),
    /refillsAhead must be true or false/,
  );
  let trajectories = 0;
  const onEvent: RolloutOptions["onEvent"] = ({ type }) => {
    if (type !== "trajectory") return;
    assert.ok(
      begun >= trajectories++ && begun <= trajectories,
      "a trajectory was begun before it was made",
    );
  };
  await rollout(counted(), tasks[0]!, { n: 9, initialRollouts: 1, onEvent });
  assert.equal(begun, 9);
});
