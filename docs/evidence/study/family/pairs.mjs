// What is run of branching x credit, and why these: the methods as published; ARPO's tree under every
// credit rule that finds what it needs in it; every other branching with plain GRPO on its trajectories. So
// each cross changes one thing against a trajectory that is there. Credit that another branching cannot
// feed (FR3E's states) and branching that starts from no other (SPO's cut points) make no cross.
const rollout = (n, initial) => [
  `actor_rollout_ref.rollout.n=${n}`,
  `actor_rollout_ref.rollout.initial_rollouts=${initial}`,
];
const expand = (settings) =>
  Object.entries(settings).map(([key, value]) => `lab.expand.${key}=${value}`);
const credit = (estimator) => [`algorithm.adv_estimator=${estimator}`];
const turns = ["custom_reward_function.path=docs/evidence/study/family/turn-reward.mjs"];

/**
 * Each branching at twelve trajectories a prompt, answers of up to 128 tokens: the published shape,
 * smaller.
 */
const branchings = {
  none: rollout(12, 12),
  arpo: rollout(12, 6),
  aepo: rollout(12, 6),
  "tree-grpo": [...rollout(12, 4), ...expand({ trees: 4 })],
  at2po: [...rollout(12, 6), ...expand({ points: 3 })],
  treerl: [...rollout(12, 4), ...expand({ trees: 4, points: 2, rows: 1 })],
  treepo: [...rollout(12, 4), ...expand({ segment: 16, depth: 8, first: "[2,4]" })],
  appo: rollout(12, 6),
  "appo-rollout": rollout(12, 6),
  fr3e: [...rollout(12, 4), ...expand({ points: 2, rows: 2 })],
  "spo-tree": [...rollout(12, 3), ...expand({ segment: 12, factors: "[3,2,2]" })],
};
const plain = { none: "grpo", arpo: "arpo", aepo: "aepo" };

/** A method as published: its preset says branching, credit and loss. */
const published = (branching, name, more = []) => ({
  ...{ kind: "published", branching, credit: name },
  preset: plain[branching] ?? branching,
  overrides: [...branchings[branching], ...more],
});

/** ARPO's preset, so its loss, with one other rule. */
const cross = (branching, name, more = []) => ({
  ...{ kind: branching === "arpo" ? "credit" : "branching", branching, credit: name },
  preset: branching === "none" ? "grpo" : "arpo",
  overrides: [
    ...(branching in plain ? [] : [`lab.branch_rule=${branching}`]),
    ...branchings[branching],
    ...credit(name),
    ...more,
  ],
});

export const pairs = [
  published("none", "grpo"),
  published("arpo", "grpo"),
  published("aepo", "grpo"),
  published("tree-grpo", "tree_grpo"),
  published("at2po", "at2po"),
  published("treerl", "treerl"),
  published("treepo", "treepo"),
  published("appo", "appo"),
  published("fr3e", "fr3e"),
  published("spo-tree", "spo_tree"),
  published("none", "mt_grpo", [...credit("mt_grpo"), ...turns]),
  published("none", "gigpo", [...credit("gigpo"), ...turns]),
  published("none", "turn_baseline", [...credit("turn_baseline"), ...turns]),
  ...["tree_grpo", "at2po", "treerl", "treepo", "spo_tree", "spo_chain", "appo"].map((name) =>
    cross("arpo", name),
  ),
  ...["gigpo", "turn_baseline"].map((name) => cross("arpo", name, turns)),
  ...["tree-grpo", "at2po", "treerl", "treepo", "appo", "appo-rollout", "fr3e", "spo-tree"].map(
    (branching) => cross(branching, "grpo"),
  ),
  cross("appo-rollout", "appo"),
].map((pair) => ({ name: `${pair.branching}.${pair.credit}`, ...pair }));
