import { keysOf } from "../../../common/options/option-table.js";
import type { ActorLossOptions } from "../../learn/losses/loss-rules.js";
import {
  aggregationTable,
  arithmeticTable,
  balanceTable,
  clipTable,
  rowTable,
  termTable,
} from "../../learn/losses/base/options.js";
import { distillationTable } from "../../learn/distillation/options.js";
import { lossRegistry, ownTable } from "../../learn/losses/registry.js";
import { chosen } from "./choices.js";
import { keysWith, optionsIn } from "./from-table.js";
import type { Config } from "./schema.js";
import { get, put, type Tree } from "./tree.js";

const actor = "actor_rollout_ref.actor";
const lossMode = `${actor}.policy_loss.loss_mode`;

/** Every option of what an update minimises; one without a key is the code's alone. */
export const lossTable = () => ({
  ...{ ...ownTable(), ...clipTable, ...arithmeticTable, ...aggregationTable },
  ...{ ...balanceTable, ...rowTable, ...termTable, ...distillationTable },
});

/** The loss's options that a configuration sets; null is unset. */
export function lossOptions(config: Config): ActorLossOptions {
  const { actor: keys } = config.actor_rollout_ref;
  const { klLossCoefficient, klLossKind, ...given } = optionsIn(lossTable(), config);
  return {
    loss: chosen(lossRegistry, keys.policy_loss.loss_mode),
    ...given,
    // A coefficient of 0 adds nothing: the reference pass, which the published runs pay for, is saved.
    ...(keys.use_kl_loss && klLossCoefficient !== 0 ? { klLossCoefficient, klLossKind } : {}),
  };
}

/** A loss's options under their keys. */
export function lossKeysOf(options: ActorLossOptions): Tree {
  const { loss, klLossCoefficient, klLossKind = "low_var_kl", ...given } = options;
  const table = lossTable();
  const keyed = new Set(keysOf(table).map(([name]) => name));
  const unknown = Object.keys(given).find((name) => !keyed.has(name));
  if (unknown !== undefined) {
    throw new RangeError(`Cannot write a loss as keys: an option must have one, got ${unknown}`);
  }
  const kl = klLossCoefficient === undefined ? {} : { klLossCoefficient, klLossKind };
  let keys = keysWith(table, { ...given, ...kl });
  if (loss !== undefined) keys = put(keys, lossMode, typeof loss === "string" ? loss : loss.name);
  if (klLossCoefficient !== undefined) keys = put(keys, `${actor}.use_kl_loss`, true);
  return keys;
}

/** The same under the actor's keys alone. */
export const actorKeysOf = (options: ActorLossOptions): Tree =>
  (get(lossKeysOf(options), actor) ?? {}) as Tree;
