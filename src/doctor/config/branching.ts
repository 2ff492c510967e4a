import { isExpansion } from "../../rollout/rules/registry.js";
import { estimatorsByName } from "../../learn/estimators/registry.js";
import { findings } from "../check.js";
import { advised, type Rule, ruleAdvice } from "./context.js";

const { note, warning, error } = findings("branching");

/** The rules of the budget: what becomes of n, initial_rollouts, beam_size and the probability. */
export const branching: Rule = function* ({ config }) {
  const { rollout } = config.actor_rollout_ref;
  const { n, initial_rollouts: first, beam_size: beam } = rollout;
  const { branch_rule: rule } = config.lab;
  const { adv_estimator: estimator } = config.algorithm;
  const definition = estimatorsByName.get(estimator);
  const grouped = !(definition && "alone" in definition);
  if (!rollout.do_sample || rollout.temperature === 0) {
    const why = rollout.do_sample ? "rollout.temperature=0" : "rollout.do_sample=false";
    yield error(
      "greedy-training",
      `${why}: every trajectory of a prompt is the same, so no trajectory is better than another and nothing is learnt`,
      "actor_rollout_ref.rollout.do_sample=true actor_rollout_ref.rollout.temperature=1",
    );
  }
  if (n === 1 && grouped) {
    yield error(
      "group-of-one",
      `rollout.n=1 with ${config.algorithm.adv_estimator}: a trajectory has nothing to be compared with`,
      "actor_rollout_ref.rollout.n=8 or more, or algorithm.adv_estimator=gae",
    );
  } else if (n > 1 && n < 4 && grouped) {
    yield warning("small-group", `groups of ${n}: their mean and deviation are mostly noise`);
  }
  if (isExpansion(rule)) return yield* advised("branching", ruleAdvice(config));
  if (first > n && n > 1) {
    yield warning(
      "initial-over-n",
      `initial_rollouts is ${first} and n is ${n}: it counts as ${n}, and nothing is left for branches`,
      `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
    );
  } else if (beam > 1 && first === n && n > 1) {
    yield warning(
      "no-budget",
      `initial_rollouts is n (${n}): the whole budget is spent at the start and no trajectory ever branches`,
      `actor_rollout_ref.rollout.initial_rollouts=${Math.max(1, Math.floor(n / 2))}`,
    );
  }
  if (first < n && (beam === 1 || rule === "never")) {
    const why = rule === "never" ? "lab.branch_rule=never" : "beam_size=1";
    yield warning(
      "refills-only",
      `${why} makes no branches, so the ${n - first} trajectories beyond initial_rollouts come one a round, from the start: slow, and no tree`,
      `actor_rollout_ref.rollout.beam_size=2, or initial_rollouts=${n}`,
    );
  }
  if (rollout.mode === "sync" && beam > 1) {
    yield note(
      "tree-without-tools",
      "rollout.mode=sync has no tools: a trajectory can only branch where it went on after its length",
    );
  }
  yield* advised("branching", ruleAdvice(config));
  if (rollout.entropy_weight === 0 && beam > 1 && rule !== "never") {
    yield warning(
      "entropy-ignored",
      "entropy_weight=0: branching is a coin flip that entropy does not move",
      "actor_rollout_ref.rollout.entropy_weight=0.2",
    );
  }
};
