// What docs/evidence/preregistration-b.md fixes.
const rollout = "actor_rollout_ref.rollout";
const actor = "actor_rollout_ref.actor";
const sizes = (n, first) => [`${rollout}.n=${n}`, `${rollout}.initial_rollouts=${first}`];
const redraw = (signal, n, first) => ({
  preset: "grpo",
  overrides: [...sizes(n, first), "lab.branch_rule=redraw", `lab.expand.signal=${signal}`],
});
/** Four trajectories, and four branches after tool results. */
const after = (preset, ...more) => ({ preset, overrides: [...sizes(8, 4), ...more] });
const treeCredit = "algorithm.adv_estimator=treepo";

/** Where trajectories begin; everything else is alike. */
export const places = {
  coin: after("arpo", `${rollout}.entropy_weight=0`),
  fresh: { preset: "grpo", overrides: sizes(6, 6) },
  uniform: redraw("random", 8, 4),
  entropy: redraw("entropy", 10, 5),
  "group-mixed": redraw("group-mixed", 9, 5),
};

/** ARPO, AEPO with its switches, and a tree's credit on two kinds of trees. */
export const switches = {
  arpo: after("arpo"),
  aepo: after("aepo"),
  "aepo, arpo-code": after("aepo", "lab.branch_rule=arpo-code"),
  "aepo, clipping off": after("aepo", `${actor}.enable_entropy_balanced_clipping=false`),
  "aepo, advantage off": after("aepo", `${actor}.enable_entropy_balanced_advantage=false`),
  "aepo, budget on": after("aepo", `${rollout}.enable_dynamic_rollouts=true`),
  "coin, tree credit": after("arpo", `${rollout}.entropy_weight=0`, treeCredit),
  "uniform, tree credit": {
    ...redraw("random", 8, 4),
    overrides: [...redraw("random", 8, 4).overrides, treeCredit],
  },
};

/** The name of an arm's folder. */
export const folderOf = (arm) => arm.replace(/,? /g, "-");

export const families = ["multihop", "mixed"];
const sets = { multihop: "train=80&test=40", mixed: "train=256&test=40" };
export const at = { tokens: 19_500, calls: 600 };
export const margin = 0.03;

/** What all runs of a family share. */
export const sharedOf = (family) => [
  `data.train_files=tasks:${family}?${sets[family]}`,
  `data.val_files=tasks:${family}?${sets[family]}`,
  ...["data.train_batch_size=4", "data.max_response_length=200"],
  ...[`${rollout}.tools.call_limit=3`, `${rollout}.val_kwargs.n=4`],
  ...[`${actor}.ppo_mini_batch_size=2`, `${actor}.optim.warmup_style=constant`],
  ...["trainer.test_freq=-1", "trainer.save_freq=-1", "trainer.val_before_train=false"],
  ...["trainer.logger=[console]", "lab.reuse_log_probs=true", "lab.share_prefixes=false"],
  ...["lab.budget.tokens=19500", "lab.budget.tokens_per_step=2500"],
  ...["lab.budget.warmup_tokens=10000", "lab.budget.test_at_tokens=[12000,17000]"],
];

const seeds = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
/** Blocks in the order in which they are run. */
export const blocks = [
  { arms: places, seeds: seeds(101, 112) },
  { arms: switches, seeds: seeds(101, 108) },
  { arms: places, seeds: seeds(113, 124) },
  { arms: switches, seeds: seeds(109, 116) },
  { arms: places, seeds: seeds(125, 140) },
  { arms: switches, seeds: seeds(117, 124) },
];

/** Predicted speed-up over fresh trajectories per token and per call, from part A (shipped and early policies). */
export const predicted = {
  multihop: {
    coin: [1.24, 1.5],
    uniform: [1.21, 1.23],
    entropy: [1.4, 1.6],
    "group-mixed": [1.36, 1.4],
  },
  mixed: {
    coin: [1.2, 1.46],
    uniform: [1.17, 1.18],
    entropy: [1.3, 1.37],
    "group-mixed": [1.36, 1.38],
  },
};
