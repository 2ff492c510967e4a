import { keysOf } from "../../../common/options/option-table.js";
import type { LossDefinition } from "../../learn/losses/base/definition.js";
import { lossRegistry } from "../../learn/losses/registry.js";
import { get } from "../../run/config/tree.js";
import type { Config } from "../../run/config/schema.js";
import { updateOptions } from "../../run/trainer/options.js";
import { findings } from "../check.js";
import { advised, type Rule } from "./context.js";

const { note, warning } = findings("loss");
const actorKey = "actor_rollout_ref.actor";

/** Settings that say something to a loss that was not chosen. */
function idleKeys(config: Config, { options: own = {} }: LossDefinition): string[] {
  return lossRegistry.all.flatMap(({ name, options = {} }) =>
    keysOf(options).flatMap(([option, { path }]) => {
      const usual = options[option]!.complete?.(undefined) ?? null;
      return option in own || get(config, path) === usual ? [] : [`${path} (${name})`];
    }),
  );
}

/** A loss and what it is told. */
export const losses: Rule = function* ({ config }) {
  const { actor } = config.actor_rollout_ref;
  const loss = actor.policy_loss.loss_mode;
  const facts = lossRegistry.of("check", "loss_mode", loss);
  const idle = idleKeys(config, facts);
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
  yield* advised("loss", facts.advice?.(updateOptions(config)) ?? []);
};
