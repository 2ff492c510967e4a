import { type ExpansionRule, isExpansion } from "../../rollout/branch/family/settings.js";
import type { Config } from "../../run/config/schema.js";
import { finding, type Rule } from "./context.js";

const about = finding("branching");

/** The rules of the budget: what becomes of n, initial_rollouts, beam_size and the probability. */
export const branching: Rule = ({ config }) => {
  const { rollout } = config.actor_rollout_ref;
  const { n, initial_rollouts: first, beam_size: beam, branch_probability: p } = rollout;
  const { branch_rule: rule } = config.lab;
  const found = [];
  const { adv_estimator: estimator } = config.algorithm;
  const grouped =
    !["gae", "remax"].includes(estimator) && !/^reinforce_plus_plus(_older)?$/.test(estimator);
  if (!rollout.do_sample || rollout.temperature === 0) {
    const why = rollout.do_sample ? "rollout.temperature=0" : "rollout.do_sample=false";
    found.push(
      about(
        "greedy-training",
        "error",
        `${why}: every trajectory of a prompt is the same, so no trajectory is better than another and nothing is learnt`,
        "actor_rollout_ref.rollout.do_sample=true actor_rollout_ref.rollout.temperature=1",
      ),
    );
  }
  if (n === 1 && grouped) {
    found.push(
      about(
        "group-of-one",
        "error",
        `rollout.n=1 with ${config.algorithm.adv_estimator}: a trajectory has nothing to be compared with`,
        "actor_rollout_ref.rollout.n=8 or more, or algorithm.adv_estimator=gae",
      ),
    );
  } else if (n > 1 && n < 4 && grouped) {
    found.push(
      about("small-group", "warning", `groups of ${n}: their mean and deviation are mostly noise`),
    );
  }
  if (isExpansion(rule)) return [...found, ...ofWritten(rule, config)];
  if (first > n && n > 1) {
    found.push(
      about(
        "initial-over-n",
        "warning",
        `initial_rollouts is ${first} and n is ${n}: it counts as ${n}, and nothing is left for branches`,
        `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
      ),
    );
  } else if (beam > 1 && first === n && n > 1) {
    found.push(
      about(
        "no-budget",
        "warning",
        `initial_rollouts is n (${n}): the whole budget is spent at the start and no trajectory ever branches`,
        `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
      ),
    );
  }
  if (first < n && (beam === 1 || rule === "never")) {
    const why = rule === "never" ? "lab.branch_rule=never" : "beam_size=1";
    found.push(
      about(
        "refills-only",
        "warning",
        `${why} makes no branches, so the ${n - first} trajectories beyond initial_rollouts come one a round, from the start: slow, and no tree`,
        `actor_rollout_ref.rollout.beam_size=2, or initial_rollouts=${n}`,
      ),
    );
  }
  if (rollout.mode === "sync" && beam > 1) {
    found.push(
      about(
        "tree-without-tools",
        "note",
        "rollout.mode=sync has no tools: a trajectory can only branch where it went on after its length",
      ),
    );
  }
  if (rule === "aepo-code" && (p === 0 || p === 1)) {
    const does = p === 0 ? "always" : "hardly ever";
    found.push(
      about(
        "bar-not-probability",
        "warning",
        `branch_probability is a bar in aepo-code (1 - p is the probability): ${p} branches ${does}`,
        "0.5 is the published value, where both readings agree",
      ),
    );
  } else if (rule === "arpo-code" && p === 0) {
    found.push(
      about("never-branches", "warning", "branch_probability=0 branches only where entropy rises"),
    );
  }
  if (rollout.entropy_weight === 0 && beam > 1 && rule !== "never") {
    found.push(
      about(
        "entropy-ignored",
        "warning",
        "entropy_weight=0: branching is a coin flip that entropy does not move",
        "actor_rollout_ref.rollout.entropy_weight=0.2",
      ),
    );
  }
  return found;
};

/** What becomes of the budget where a rule looks at what was written. */
function ofWritten(rule: ExpansionRule, { actor_rollout_ref: { rollout }, lab }: Config) {
  const { n, initial_rollouts: first } = rollout;
  const found = [];
  if ((rule === "appo" || rule === "appo-rollout") && first >= n) {
    found.push(
      about(
        "no-budget",
        "warning",
        `initial_rollouts is ${first} and n is ${n}: the whole budget is spent at the start and ${rule} leaves no trajectory`,
        `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
      ),
    );
  }
  if (rule === "appo" && lab.sampler === "float32") {
    found.push(
      about(
        "same-policy",
        "note",
        "what samples is what trains: the future of a token is worth the same under both, and appo ranks by entropy alone",
      ),
    );
  }
  const { segment = null } = lab.expand;
  const steps = rule === "treepo" ? (segment ?? 512) : rule === "spo-tree" ? (segment ?? 600) : 0;
  if (steps >= rollout.response_length) {
    found.push(
      about(
        "one-segment",
        "warning",
        `a response of ${rollout.response_length} tokens is one segment of ${steps}: ${rule} branches at the prompt alone`,
        `lab.expand.segment=${Math.max(1, Math.floor(rollout.response_length / 8))}`,
      ),
    );
  }
  return found;
}
