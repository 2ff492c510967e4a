import type { Config } from "../../run/config/schema.js";
import { configKeys } from "../../run/config/keys.js";
import { finding, type Rule } from "./context.js";

const about = finding("credit");

/** Keys that differ from their defaults, of estimators that were not chosen. */
function idleKeys({ algorithm, lab }: Config): string[] {
  return configKeys.flatMap(({ path, default: usual }) => {
    const [, section, method, name] = path.split(".");
    if (section !== "credit" || method === undefined || name === undefined) return [];
    const told = lab.credit[method as keyof typeof lab.credit] as Readonly<Record<string, unknown>>;
    return method === algorithm.adv_estimator || told[name] === usual ? [] : [path];
  });
}

/** Whether any row can leave another one. */
function branches({ lab, actor_rollout_ref: { rollout } }: Config): boolean {
  return lab.branch_rule !== "never" && rollout.initial_rollouts < rollout.n;
}

/** What an estimator of the family needs of the rollouts, and settings that no estimator reads. */
export const credit: Rule = ({ config }) => {
  const { adv_estimator: estimator } = config.algorithm;
  const { branch_rule: rule } = config.lab;
  const found = [];
  if (estimator === "fr3e" && rule !== "fr3e") {
    found.push(
      about(
        "states-unequal",
        "error",
        `fr3e compares states with as many trajectories each, and lab.branch_rule=${rule} makes what it makes: the first step stops`,
        "lab.branch_rule=fr3e",
      ),
    );
  }
  if (estimator === "spo_chain" && !branches(config)) {
    found.push(
      about(
        "no-values-on-the-way",
        "error",
        "spo_chain takes values on the way from trajectories that leave it, and no trajectory branches",
        "actor_rollout_ref.rollout.initial_rollouts below n",
      ),
    );
  }
  if (estimator === "mt_grpo" || estimator === "turn_baseline") {
    found.push(
      about(
        "turns-need-rewards",
        "note",
        `${estimator} needs rewards of turns: a tool must return one with its result, or the reward function say \`turns\``,
      ),
    );
  }
  if (estimator === "turn_baseline" && config.lab.credit.turn_baseline.baseline === "turn-index") {
    found.push(
      about(
        "biased-baseline",
        "warning",
        "turn-index is biased: going on costs a trajectory the mean of every turn it wins, which shortens trajectories",
        "lab.credit.turn_baseline.baseline=padded",
      ),
    );
  }
  const idle = idleKeys(config);
  if (idle.length > 0) {
    found.push(
      about(
        "credit-keys-idle",
        "warning",
        `the estimator is ${estimator}, which does not read ${idle.join(", ")}`,
      ),
    );
  }
  return found;
};
