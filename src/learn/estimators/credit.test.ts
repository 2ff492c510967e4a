import assert from "node:assert/strict";
import { test } from "node:test";
import { defined } from "../../../common/options/defined.js";
import { appo, appoRewards } from "./appo.js";
import { Random } from "../../base/random/random.js";
import { at2po } from "./at2po.js";
import { childrenOf, type CreditNode, type CreditTree, leavesOf, pathTo, total } from "./credit.js";
import { fr3e } from "./fr3e.js";
import { giGpo, similarity } from "./gigpo.js";
import { spoTree } from "./spo.js";
import { treeDiff, treeGrpo } from "./tree-grpo.js";
import { treePo } from "./treepo.js";
import { treeRlPaths, chooseLeaves } from "./treerl.js";

const near = (a: number, b: number, what = "") => {
  assert.ok(Math.abs(a - b) < 1e-12, `${what} ${a} is not ${b}`);
};
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** A tree drawn at random, its leaves, and a mask as long as each trajectory. */
function randomTree(seed: number): { tree: CreditTree; leaves: number[]; mask: number[][] } {
  const random = Random.from(seed);
  const nodes: CreditNode[] = [{ parent: -1, tokens: 0, entropy: 0 }];
  const grow = (parent: number, depth: number): void => {
    const node =
      nodes.push({ parent, tokens: 1 + random.integer(4), entropy: random.uniform() }) - 1;
    const children = depth === 0 ? 0 : random.integer(4);
    if (children === 0) nodes[node]!.score = random.integer(3) / 2;
    for (let i = 0; i < children; i++) grow(node, depth - 1);
  };
  for (let i = 0; i < 3; i++) grow(0, 3);
  const tree = { nodes };
  const leaves = leavesOf(tree, childrenOf(tree));
  const mask = leaves.map((leaf) =>
    pathTo(tree, leaf).flatMap((node) => new Array<number>(nodes[node]!.tokens).fill(1)),
  );
  return { tree, leaves, mask };
}

/** The scores of the leaves below a node, found by walking up from each leaf. */
function scoresBelow({ nodes }: CreditTree, leaves: readonly number[], node: number): number[] {
  return leaves
    .filter((leaf) => {
      for (let at = leaf; at >= 0; at = nodes[at]!.parent) if (at === node) return true;
      return false;
    })
    .map((leaf) => nodes[leaf]!.score!);
}

test("treerl's paper rule is what counting the trajectories below every segment gives", () => {
  const trees = [
    [
      { tokens: 6, score: 1 },
      { parent: 0, split: 2, tokens: 3, score: 0 },
      { parent: 0, split: 4, tokens: 2, score: 1 },
      { parent: 1, split: 1, tokens: 2, score: 0 },
    ],
    [
      { tokens: 3, score: 0 },
      { parent: 0, split: 1, tokens: 4, score: 1 },
    ],
  ];
  const { forest, paths } = treeRlPaths(trees, { rule: "paper" });
  const V = (node: number) => mean(scoresBelow(forest, forest.leaves, node));
  let segments = 0;
  for (const path of paths) {
    for (const { node, value } of path) {
      const n = scoresBelow(forest, forest.leaves, node).length;
      const parent = forest.nodes[node]!.parent;
      near(value, (V(node) - V(0) + V(node) - V(parent)) / Math.sqrt(n));
      segments++;
    }
  }
  assert.ok(segments > 12);
});

test("treerl's code rule is n/(n-1) times the paper's sums under its own weights", () => {
  const trees = [
    [
      { tokens: 4, score: 1 },
      { parent: 0, split: 2, tokens: 3, score: 0.5 },
      { parent: 0, split: 3, tokens: 2, score: 0.25 },
    ],
  ];
  const { forest, paths } = treeRlPaths(trees);
  const n = forest.leaves.length;
  const all = mean(scoresBelow(forest, forest.leaves, 0));
  // Against the others' mean a score is n/(n-1) times its distance from the mean of all.
  const state = (node: number) => {
    const below = scoresBelow(forest, forest.leaves, node);
    const sum = below.reduce((s, v) => s + (n / (n - 1)) * (v - all), 0);
    return sum / Math.sqrt(below.length) / below.length;
  };
  for (const path of paths) {
    for (const { node, value } of path) {
      near(value, 2 * state(node) - state(forest.nodes[node]!.parent));
    }
  }
});

test("treerl fills a segment of value 0 with its predecessor's, and not by the paper", () => {
  // A fork whose sides end alike: neither differs from its parent under plain weights.
  const trees = [
    [
      { tokens: 4, score: 1 },
      { parent: 0, split: 2, tokens: 2, score: 1 },
    ],
    [{ tokens: 3, score: 0 }],
  ];
  const plain = { weights: "original", bonus: "none" } as const;
  const [filled] = treeRlPaths(trees, plain).paths;
  assert.equal(filled![1]!.value, filled![0]!.value);
  assert.match(filled![1]!.sum.terms[0]!.name, /segment before/);
  const [bare] = treeRlPaths(trees, { ...plain, fill: false }).paths;
  near(bare![1]!.value, 0);
});

test("treerl refuses a prompt of one trajectory", () => {
  assert.throws(() => treeRlPaths([[{ tokens: 1, score: 1 }]]), /at least 2 trajectories .* got 1/);
});

test("chooseLeaves() takes a right leaf, and as many right as wrong ones where it is told to", () => {
  const right = Array.from({ length: 20 }, (_, i) => i === 7 || i > 14);
  for (let seed = 0; seed < 20; seed++) {
    const few = chooseLeaves(right, 4, Random.from(seed));
    assert.ok(few.some((leaf) => right[leaf]) && new Set(few).size === 4);
    const half = chooseLeaves(right, 8, Random.from(seed), 0.5);
    assert.equal(half.filter((leaf) => right[leaf]).length, 4);
  }
  assert.deepEqual(chooseLeaves(right, 6, Random.from(3)), chooseLeaves(right, 6, Random.from(3)));
});

test("spoTree() gives each token its segment's mean of means less the one before", () => {
  for (let seed = 0; seed < 5; seed++) {
    const { tree, leaves, mask } = randomTree(seed);
    const children = childrenOf(tree);
    const V = (node: number): number =>
      children[node]!.length === 0 ? tree.nodes[node]!.score! : mean(children[node]!.map(V));
    const { advantages } = spoTree({ tree, leaves, mask });
    leaves.forEach((leaf, trajectory) => {
      let t = 0;
      for (const node of pathTo(tree, leaf)) {
        for (let i = 0; i < tree.nodes[node]!.tokens; i++) {
          near(advantages[trajectory]![t++]!, V(node) - V(tree.nodes[node]!.parent));
        }
      }
    });
  }
});

test("treeDiff() leaves the last token of every step and the leaf's own step without a reward", () => {
  const { tree, leaves, mask } = randomTree(2);
  const { advantages } = treeDiff({ tree, leaves, mask });
  leaves.forEach((leaf, trajectory) => {
    let t = 0;
    const path = pathTo(tree, leaf);
    path.forEach((node, i) => {
      const below = scoresBelow(tree, leaves, node);
      const above = scoresBelow(tree, leaves, tree.nodes[node]!.parent);
      const gain = Math.max(mean(below) - mean(above) - 0.1, 0);
      const { tokens } = tree.nodes[node]!;
      for (let k = 0; k < tokens; k++, t++) {
        const none = k === tokens - 1 || i === path.length - 1;
        const wanted = none ? 0 : (gain + mean(below)) / Math.sqrt(below.length);
        near(advantages[trajectory]![t]!, wanted);
      }
    });
  });
});

test("a tree of one trajectory adds nothing to tree_grpo, or as published its raw reward", () => {
  const input = {
    rewards: [[0.5], [0], [1]],
    mask: [[1], [1], [1]],
    groups: [0, 0, 0],
    trees: [0, 1, 1],
  };
  const [alone] = treeGrpo(input).advantages[0]!;
  const [published] = treeGrpo(input, { loneRow: "reward" }).advantages[0]!;
  near(alone!, 0);
  assert.ok(Math.abs(published! - 0.5) < 1e-5);
});

test("at2po refuses a tree without entropies only where it weighs by them", () => {
  const { tree, leaves, mask } = randomTree(1);
  const bare = tree.nodes.map(({ parent, tokens, score }) => ({
    ...{ parent, tokens },
    ...defined({ score }),
  }));
  const input = { tree: { nodes: bare }, leaves, mask };
  assert.throws(() => at2po(input), /child_softmax" needs every turn's entropy, got none/);
  assert.equal(at2po(input, { value: "child_mean" }).advantages.length, leaves.length);
});

test("fr3e sharpens what never changes to nothing, and keeps the reference's NaN where asked", () => {
  const trajectories = {
    rewards: [[1], [1]],
    mask: [[1], [1]],
    states: ["a", "a"],
    bases: [0, 0],
  };
  // All trajectories right, none above their mean: the mean reward is 1, so nothing is left to gain.
  const nothing = fr3e(trajectories, { value: "mean-reward" }).advantages;
  assert.deepEqual([nothing[0]![0], nothing[1]![0]], [0, 0]);
  const asPublished = fr3e(trajectories, { value: "mean-reward", referenceNaN: true });
  assert.ok(Number.isNaN(asPublished.advantages[0]![0]));
});

test("gigpo takes observations by their content", () => {
  const base = {
    episodeRewards: [0, 0, 0],
    stepRewards: [1, 0, 0],
    groups: [0, 0, 0],
    trajectories: [0, 1, 2],
  };
  const maps = giGpo({ ...base, anchors: [{ a: 1, b: [2, 3] }, { b: [2, 3], a: 1 }, { a: 2 }] });
  assert.deepEqual(maps.anchors, [0, 0, 1]);
  const grids = giGpo({ ...base, anchors: [[[1, 2], [3]], Float32Array.of(1, 2, 3), [1, 2]] });
  assert.deepEqual(grids.anchors, [0, 0, 1]);
});

test("similarity() is difflib's ratio, popular letters of long texts left out", () => {
  // Python 3: SequenceMatcher(None, a, b).ratio()
  near(similarity("abcd", "bcde"), 0.75);
  near(similarity("", ""), 1);
  near(
    similarity("room with a desk and a lamp", "room with a desk and two lamps"),
    0.9122807017543859,
  );
  const long = "the quick brown fox jumps over the lazy dog. ".repeat(6);
  const [a, b] = [`${long}ZWQK 12345`, `12345 ${long.slice(40)}ZWQK and then sleeps`];
  near(similarity(a, b), 0.018656716417910446);
  near(similarity(b, a), 0.018656716417910446);
});

test("treepo names the form that needs what is missing", () => {
  const trajectories = {
    rewards: [[1], [0]],
    mask: [[1], [1]],
    paths: [
      ["q", "a"],
      ["q", "b"],
    ],
  };
  assert.throws(() => treePo(trajectories, { form: "segment" }), /needs the lengths of segments/);
  const credit = treePo(trajectories);
  const sum = credit.explain(0, 0)!;
  near(total(sum), credit.advantages[0]![0]!);
  assert.equal(credit.explain(0, 1), undefined);
});

// What the published code gives (AMAP-ML/APPO @ b04e7e9, apply_appo_reward_scale_M and
// compute_appo_advantage), worked out by hand.
test("appo counts a branch beyond the last token for every token, and leaves out what is none", () => {
  const input = {
    rewards: [
      [0, 0, 1],
      [0, 0, 0],
      [1, 0, 0],
      [0, 0, 0],
    ],
    mask: [
      [1, 1, 1],
      [1, 1, 1],
      [1, 1, 1],
      [1, 1, 1],
    ],
    groups: ["q", "q", "q", "q"],
    initial: [true, true, false, false],
    branches: [
      { from: 0, trajectory: 2, token: 7, score: 2 },
      { from: 0, trajectory: 3, token: 0, score: 1 },
    ],
  };
  // Trajectory 0 ends with 1 * mean(1 + 0.9^5, 1); the initial trajectories differ by that, the branches by 1.
  const scaled = (1 + 0.9 ** 5 + 1) / 2;
  const options = { normalizeByDeviation: false };
  near(appoRewards(input)[0]![2]!, scaled);
  const [first, second, third] = appo(input, options).advantages;
  const beyond = scaled / 2 + 0.5;
  [scaled / 2 + 0, beyond, beyond].forEach((want, t) => near(first![t]!, want, `token ${t}`));
  for (const value of second!) near(value, -scaled / 2);
  for (const value of third!) assert.equal(value, 0);

  // Left by or to a trajectory that the batch does not have, before the first token, or not by a branch.
  const odd = [
    { from: 0, trajectory: 9, token: 1, score: 1 },
    { from: 9, trajectory: 2, token: 1, score: 1 },
    { from: 0, trajectory: 2, token: -3, score: 1 },
    { from: 0, trajectory: 1, token: 2, score: 1 },
    { from: 0, trajectory: -1, token: 2, score: 99 },
  ];
  const off = { ...options, rewardScaleDiscount: 0 };
  const with_ = appo({ ...input, branches: [...input.branches, ...odd] }, off).advantages;
  assert.deepEqual(with_, appo(input, off).advantages);
});

test("appo scales the rewards of a branch that was branched itself, as published", () => {
  const input = {
    rewards: [[1], [1], [0]],
    mask: [[1], [1], [1]],
    groups: ["q", "q", "q"],
    initial: [true, false, false],
    branches: [
      { from: 0, trajectory: 1, token: 0, score: 1 },
      { from: 1, trajectory: 2, token: 0, score: 1 },
      { from: 0, trajectory: -1, token: 0, score: 99 },
    ],
  };
  assert.deepEqual(
    appoRewards(input).map(([r]) => r),
    [2, 2, 0],
  );
});

// multimodal-art-projection/TreePO @ f055523: scores are laid out over the padded response, 0 where no
// segment is, and whitened over the whole mask.
test("treepo whitens the tokens behind the last segment too, and drops segments behind the last token", () => {
  const paths = [
    ["p", "a"],
    ["p", "b"],
  ];
  const rewards = [
    [0, 0, 1, 0],
    [0, 0, 0, 0],
  ];
  const mask = [
    [1, 1, 1, 0],
    [1, 1, 1, 1],
  ];
  const of = (lengths: number[][], form: "segment" | "spo") =>
    treePo({ rewards, mask, paths, lengths }, { form }).advantages.map((trajectory) => [
      ...trajectory,
    ]);
  // A leaf against the means of its groups by their sizes: ±0.5 * 2/3.
  const raw = [
    [1 / 3, 1 / 3, 0, 0],
    [-1 / 3, -1 / 3, 0, 0],
  ];
  const flat = raw.flatMap((trajectory, r) => trajectory.filter((_, t) => mask[r]![t]));
  const centre = mean(flat);
  const width = Math.sqrt(flat.reduce((sum, v) => sum + (v - centre) ** 2, 0) / 6);
  of([[2], [2]], "segment").forEach((trajectory, r) =>
    trajectory.forEach((value, t) => {
      const want = mask[r]![t]! * ((raw[r]![t]! - centre) / width);
      assert.ok(Math.abs(value - want) < 1e-6, `${r} ${t}: ${value} is not ${want}`);
    }),
  );
  assert.deepEqual(
    of([[2], [2]], "spo"),
    [
      [1, 1, 0, 0],
      [-1, -1, -0, -0],
    ].map((trajectory) => trajectory.map((v) => v + 0)),
  );
  assert.deepEqual(of([[9], [9]], "segment"), of([[4], [4]], "segment"));
  const deep = {
    rewards,
    mask,
    paths: [
      ["p", "a", "c", "d"],
      ["p", "b"],
    ],
  };
  const long = treePo({ ...deep, lengths: [[3, 3, 3], [9]] }, { form: "segment" });
  const cut = treePo({ ...deep, lengths: [[3, 1, 0], [4]] }, { form: "segment" });
  assert.deepEqual(long.advantages, cut.advantages);
});

test("treepo leaves out groups of equal rewards, whatever rounding makes of their deviation", () => {
  const rewards = [[0.1], [0.1], [0.1], [0.7]];
  const input = {
    rewards,
    mask: [[1], [1], [1], [1]],
    paths: [
      ["p", "a", "1"],
      ["p", "a", "2"],
      ["p", "a", "3"],
      ["p", "b", "4"],
    ],
  };
  const { spans } = treePo(input, { skipEqual: true });
  assert.deepEqual(
    spans[0]![0]!.sum.terms.map(({ name }) => name),
    ["among the prompt's trajectories", "mean of the batch's tokens"],
  );
});
