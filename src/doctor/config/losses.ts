import { lossDefaults } from "../../learn/losses/base/options.js";
import { lossFacts, type LossName, lossNames } from "../../learn/losses/registry.js";
import { parameterKeys } from "../../run/config/loss-keys.js";
import type { Config } from "../../run/config/schema.js";
import { findings } from "../check.js";
import type { Rule } from "./context.js";

const { note, warning } = findings("loss");
const actorKey = "actor_rollout_ref.actor";

/** Settings that say something to a loss that was not chosen. */
function idleKeys({ actor_rollout_ref: { actor } }: Config, loss: LossName): string[] {
  const own: readonly string[] = lossFacts[loss].parameters ?? [];
  const { tau_pos, tau_neg, policy_loss } = actor;
  const values: Readonly<Record<string, unknown>> = { tau_pos, tau_neg, ...policy_loss };
  return Object.entries(parameterKeys).flatMap(([name, key]) => {
    const value = values[key.replace("policy_loss.", "")];
    const usual = name in lossDefaults ? lossDefaults[name as keyof typeof lossDefaults] : null;
    if (own.includes(name) || value === usual) return [];
    const reader = lossNames.find((other) =>
      (lossFacts[other].parameters as readonly string[] | undefined)?.includes(name),
    );
    return [`${actorKey}.${key} (${reader ?? "no loss"})`];
  });
}

/** A loss and what it is told. */
export const losses: Rule = function* ({ config }) {
  const { actor } = config.actor_rollout_ref;
  const loss = actor.policy_loss.loss_mode;
  const facts = lossFacts[loss];
  const idle = idleKeys(config, loss);
  if (idle.length > 0) {
    yield warning("loss-keys-idle", `the loss is ${loss}, which does not read ${idle.join(", ")}`);
  }
  const balanced =
    actor.enable_entropy_balanced_clipping || actor.enable_entropy_balanced_advantage;
  if (balanced && loss !== "vanilla") {
    yield warning(
      "balance-idle",
      `AEPO's balanced clipping and advantages are of the loss vanilla, and the loss is ${loss}`,
      `${actorKey}.policy_loss.loss_mode=vanilla`,
    );
  }
  if (facts.ownAggregation && actor.loss_agg_mode !== facts.aggregation) {
    yield note(
      "aggregation-idle",
      `${loss} always takes ${facts.aggregation}: loss_agg_mode=${actor.loss_agg_mode} changes nothing`,
    );
  }
  if (loss === "gspo" && actor.loss_agg_mode.startsWith("token")) {
    yield warning(
      "gspo-by-tokens",
      `gspo gives a trajectory one ratio, and loss_agg_mode=${actor.loss_agg_mode} lets long trajectories count for more`,
      `${actorKey}.loss_agg_mode=seq-mean-token-mean`,
    );
  }
  const widest = Math.max(
    actor.clip_ratio_low ?? actor.clip_ratio,
    actor.clip_ratio_high ?? actor.clip_ratio,
  );
  if ((loss === "gspo" || loss === "gspo_turn") && widest > 0.05) {
    yield note(
      "mean-ratio-clip",
      `${loss} clips means of log ratios, which hardly reach ${widest}; published are 3e-4 and 4e-4 (gspo), 3e-3 and 4e-3 (gspo_turn)`,
    );
  }
  if ((loss === "dppo_tv" || loss === "dppo_kl") && actor.clip_ratio_c < 20) {
    yield note(
      "dppo-cap",
      `${loss} cuts a ratio's weight at clip_ratio_c=${actor.clip_ratio_c}; its own default is 20`,
      `${actorKey}.clip_ratio_c=20`,
    );
  }
};
