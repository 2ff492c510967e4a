import assert from "node:assert/strict";
import { test } from "node:test";
import { Scored } from "../../reward/scored.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { rolloutPresets } from "../../rollout/presets.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import type { Tool } from "../../tools/tool.js";
import { advantages, placeReward } from "../advantages.js";
import { total } from "./credit.js";
import {
  estimatorNamed,
  familyCredit,
  type FamilyEstimator,
  familyEstimators,
} from "./registry.js";

/** A calculator whose answers earn something. */
const paid: Tool = {
  ...calculator(),
  execute: (input) => ({ text: input, ok: true, reward: input.startsWith("1") ? 1 : 0.25 }),
};

async function scoredTrees({ tool = paid as Tool, n = 16, prompts = 2 } = {}): Promise<Scored> {
  const tasks = Array.from({ length: prompts }, (_, i) => ({ prompt: `q${i}`, id: `task ${i}` }));
  const trees = await rollout(randomTextPolicy(), tasks, {
    ...rolloutPresets.arpo,
    ...{ n, initialRollouts: 3, beamSize: 4, seed: 4 },
    tools: new ToolSet([tool], { callLimit: 5 }),
  });
  return score(trees, ({ length }) => {
    const parts = { thirds: length % 3, halves: length % 2 };
    return { score: (length % 3) / 2, reason: "", parts };
  });
}

const creditOf = (scored: Scored, name: FamilyEstimator, options = {}) =>
  familyCredit(scored, scored.trajectories.map(placeReward), estimatorNamed(name)!, options);

/** Where each token of each trajectory came from: its tree, node and place there. */
function origins({ trajectories, trees }: Scored): string[][] {
  return trajectories.map(({ trajectory: { tree, nodes, tokens } }) => {
    const { nodes: all } = trees.find(({ index }) => index === tree)!;
    return nodes
      .flatMap((node) => Array.from(all[node]!.tokens, (_, t) => `${tree} ${node} ${t}`))
      .slice(0, tokens.length);
  });
}

const needsOther = new Set<FamilyEstimator>(["fr3e"]);

test("every estimator that a tree has enough for gives finite advantages, and can say why", async () => {
  const scored = await scoredTrees();
  for (const name of familyEstimators) {
    if (needsOther.has(name)) continue;
    const { trajectories } = advantages(scored, { estimator: name });
    const credit = creditOf(scored, name);
    let explained = 0;
    trajectories.forEach(({ advantages: given, trajectory }, row) => {
      given.forEach((a, t) => {
        assert.ok(Number.isFinite(a), `${name}: ${a}`);
        if (!trajectory.lossMask[t]) assert.ok(a === 0, name);
        const sum = credit.explain(row, t);
        if (!sum || !trajectory.lossMask[t]) return;
        assert.ok(Math.abs(total(sum) - a) < 1e-5, name);
        explained++;
      });
    });
    assert.ok(explained > 100, `${name} explains ${explained} tokens`);
    assert.ok(
      trajectories.some(({ advantages: given }) => given.some((a) => a !== 0)),
      name,
    );
  }
});

test("tokens that trajectories share get one advantage from the rules that stand on the tree", async () => {
  const scored = await scoredTrees();
  const places = origins(scored);
  for (const name of ["at2po", "spo_tree"] as const) {
    const seen = new Map<string, number>();
    let shared = 0;
    creditOf(scored, name).advantages.forEach((trajectory, i) => {
      trajectory.forEach((a, t) => {
        const place = places[i]![t]!;
        const before = seen.get(place);
        if (before !== undefined) shared++;
        assert.ok(before === undefined || Math.abs(before - a) < 1e-12, `${name} at ${place}`);
        seen.set(place, a);
      });
    });
    assert.ok(shared > 50, `${shared} shared tokens`);
  }
});

test("treerl follows the trajectories through a real tree as counting them by tokens does", async () => {
  const scored = await scoredTrees({ prompts: 1 });
  const places = origins(scored);
  const treerl = { rule: "paper", punishCut: false } as const;
  const { advantages: given } = creditOf(scored, "treerl", { treerl });
  const scores = scored.trajectories.map(({ score: { score: s } }) => s);
  const mean = (trajectories: readonly number[]) =>
    trajectories.reduce((sum, r) => sum + scores[r]!, 0) / trajectories.length;
  const all = scored.trajectories.map((_, i) => i);
  const through = (place: string) =>
    all.filter((trajectory) => places[trajectory]!.includes(place));
  scored.trajectories.forEach(({ trajectory }, row) => {
    let parent = all;
    let own = all;
    places[row]!.forEach((place, t) => {
      const trajectories = through(place);
      if (t === 0 || trajectories.length !== own.length) parent = t === 0 ? all : own;
      own = trajectories;
      const root = mean(all);
      const wanted = (mean(own) - root + mean(own) - mean(parent)) / Math.sqrt(own.length);
      assert.ok(Math.abs(given[row]![t]! - wanted * trajectory.lossMask[t]!) < 1e-9, `${row} ${t}`);
    });
  });
});

test("appo trains initial trajectories alone, and adds to a token what left its trajectory there or later", async () => {
  const scored = await scoredTrees();
  const credit = creditOf(scored, "appo");
  scored.trajectories.forEach(({ trajectory }, row) => {
    const { kind } = scored.trees.find(({ index }) => index === trajectory.tree)!.trajectories[
      trajectory.id
    ]!;
    if (kind === "branch") assert.ok(credit.advantages[row]!.every((a) => a === 0));
  });
  const counts = credit.spans.map((spans) => spans.map(({ sum }) => sum.terms.length));
  assert.ok(counts.some((list) => list.length > 2 && list[0]! > list.at(-1)!));
  for (const list of counts)
    assert.deepEqual(
      list,
      [...list].sort((a, b) => b - a),
    );
});

test("spo_chain gives nothing to tokens that were all but certain, and what follows a cut its gain", async () => {
  const scored = await scoredTrees();
  const credit = creditOf(scored, "spo_chain");
  let certain = 0;
  let gained = 0;
  scored.trajectories.forEach(({ trajectory }, row) => {
    trajectory.logprobs.forEach((p, t) => {
      const a = credit.advantages[row]![t]!;
      if (Math.exp(p) > 0.9 && credit.explain(row, t)) {
        assert.equal(a, 0);
        certain++;
      } else if (a !== 0) gained++;
    });
  });
  assert.ok(certain > 5 && gained > 10, `${certain} ${gained}`);
});

test("turn-level estimators say that turns have no rewards, or which they have", async () => {
  const bare = await scoredTrees({ tool: calculator() });
  assert.equal(
    bare.trajectories.find(({ turnRewards }) => turnRewards),
    undefined,
  );
  for (const estimator of ["mt_grpo", "turn_baseline"] as const) {
    assert.throws(
      () => advantages(bare, { estimator }),
      new RegExp(`Cannot use ${estimator}: turns must have rewards, got none`),
    );
  }
  // GiGPO has the outcome to go by.
  assert.ok(
    creditOf(bare, "gigpo").advantages.some((trajectory) => trajectory.some((a) => a !== 0)),
  );
});

test("what a trajectory lacks is named", async () => {
  const scored = await scoredTrees();
  assert.throws(
    () => advantages(scored, { estimator: "fr3e" }),
    /every state must have as many trajectories/,
  );
  const flat = await rollout(
    randomTextPolicy(),
    { prompt: "q" },
    { n: 4, initialRollouts: 4, seed: 2 },
  );
  const trajectories = await score(flat, ({ length }) => length % 2);
  assert.throws(
    () => advantages(trajectories, { estimator: "spo_chain" }),
    /trajectories that leave it, got no branch/,
  );
  for (const node of flat.nodes) node.logprobs.fill(NaN);
  assert.throws(
    () => advantages(trajectories, { estimator: "at2po" }),
    /needs the log-probabilities of what was drawn, got none in trajectory 0/,
  );
  assert.ok(
    advantages(trajectories, { estimator: "at2po", at2po: { value: "child_mean" } }).trajectories
      .length,
  );
});

test("fr3e compares trajectories with those from their state, along the trajectory that was left", async () => {
  // Two trajectories from the prompt, two from a place in the first.
  const [tree] = await rollout(randomTextPolicy(), [{ prompt: "q", id: "t" }], {
    ...{ rule: "arpo-code", n: 2, initialRollouts: 2, seed: 1 },
  });
  const base = tree!.nodes.find(({ id }) => id === tree!.trajectories[0]!.leaf)!;
  const branch = (trajectory: number) => ({
    ...base,
    id: tree!.nodes.length + trajectory - 2,
    parent: base.id,
    trajectory,
  });
  const data = {
    ...tree!,
    config: { ...tree!.config, n: 4 },
    nodes: [...tree!.nodes, branch(2), branch(3)],
    trajectories: [
      ...tree!.trajectories,
      ...[2, 3].map((trajectory) => ({
        ...tree!.trajectories[0]!,
        ...{ id: trajectory, kind: "branch" as const, parent: 0, from: base.id },
        leaf: tree!.nodes.length + trajectory - 2,
      })),
    ],
  };
  const rewards = [1, 0, 1, 0];
  let at = 0;
  const scored = await score(new RolloutTree(data), () => rewards[at++]!);
  const credit = creditOf(scored, "fr3e", { fr3e: { sharpen: false } });
  const value = (trajectory: number) => total(credit.explain(trajectory, 0)!);
  assert.ok(Math.abs(value(0) - 0.5 / Math.exp(0.5)) < 1e-9); // 1 - 0.5 at the prompt
  assert.ok(Math.abs(value(2) - 0.5) < 1e-9); // and no gain after it
});

test("a tool's rewards reach their turns, a reward function's are added, and both must be whole", async () => {
  const [tree] = (await scoredTrees({ prompts: 1 })).trees;
  const row = tree!.selected.find(({ toolCalls }) => toolCalls.length === 2)!;
  const earned = row.toolCalls.map(({ reward }) => reward!);
  const scored = await score(tree!, ({ toolCalls }) => ({
    ...{ score: 1, reason: "" },
    turns: [...toolCalls.map(() => 10), 0.5],
  }));
  const own = scored.trajectories.find(({ trajectory }) => trajectory.id === row.id)!;
  assert.deepEqual(own.turnRewards, [10 + earned[0]!, 10 + earned[1]!, 0.5]);
  await assert.rejects(
    score(tree!, () => ({ score: 1, reason: "", turns: [1, 2, 3, 4, 5, 6, 7] })),
    /must give a number for each of its \d turns, got 7/,
  );
  await assert.rejects(
    score(tree!, ({ toolCalls }) => ({
      score: 1,
      reason: "",
      turns: [...toolCalls, 0].map(() => NaN),
    })),
    /what its turns earn must be finite numbers/,
  );
});

test("treerl trains on a number of trajectories, one right one among them, the same for the same seed", async () => {
  const scored = await scoredTrees();
  const trained = (seed: number) =>
    creditOf(scored, "treerl", { treerl: { leaves: 4, seed, punishCut: false } })
      .spans.map((spans, trajectory) => (spans.length > 0 ? trajectory : -1))
      .filter((trajectory) => trajectory >= 0);
  const once = trained(1);
  assert.deepEqual(once, trained(1));
  assert.notDeepEqual(once, trained(2));
  assert.equal(once.length, 8); // of two prompts
  for (const group of ["task 0", "task 1"]) {
    const own = once.filter((trajectory) => scored.trajectories[trajectory]!.group === group);
    assert.ok(own.some((trajectory) => scored.trajectories[trajectory]!.score.score > 0));
  }
});

test("what was left and is not scored itself makes no fork: its branches stand as trajectories of their own", async () => {
  const scored = await scoredTrees({ prompts: 1, n: 12 });
  const [tree] = scored.trees;
  // Without a trajectory that only one other left, that one is whole.
  const left = tree!.trajectories.filter(({ parent }) => parent >= 0).map(({ parent }) => parent);
  const gone = left.find(
    (trajectory) => left.filter((other) => other === trajectory).length === 1,
  )!;
  const kept = scored.trajectories.filter(({ trajectory }) => trajectory.id !== gone);
  const child = kept.findIndex(
    ({ trajectory }) => tree!.trajectories[trajectory.id]!.parent === gone,
  );
  const some = new Scored(kept, scored.trees);
  for (const name of ["spo_tree", "treerl"] as const) {
    const whole = creditOf(scored, name).spans[scored.trajectories.indexOf(kept[child]!)]!.length;
    const alone = creditOf(some, name).spans[child]!.length;
    assert.equal(alone, whole - 1, name);
  }
  const spans = creditOf(some, "treerl", { treerl: { punishCut: false } }).spans;
  kept.forEach(({ trajectory }, row) => {
    assert.equal(spans[row]!.at(-1)!.end, trajectory.tokens.length);
  });
});
