import { sha256 } from "#platform/sha256";
import { lossRegistry } from "../../learn/losses/registry.js";
import type { Config } from "../config/schema.js";

/** A loss that a program added, as a checkpoint remembers it: what a run goes on with must be the same. */
export interface OwnLoss {
  name: string;
  /** Of all that its definition says, the code of its functions included. */
  sha256: string;
}

/** The loss of a configuration, where it is none of the library's. */
export function ownLossOf({ actor_rollout_ref: { actor } }: Config): OwnLoss | undefined {
  const { loss_mode: name } = actor.policy_loss;
  const loss = lossRegistry.get(name);
  if (!loss || lossRegistry.built.includes(loss)) return undefined;
  const text = JSON.stringify(loss, (_, value: unknown) =>
    typeof value === "function" ? String(value) : value,
  );
  return { name, sha256: sha256(text) };
}

/**
 * Refuses to go on with another definition than a checkpoint was trained with.
 *
 * @throws RangeError
 */
export function checkOwnLoss(saved: OwnLoss | undefined, config: Config, path: string): void {
  const now = ownLossOf(config);
  if (saved?.sha256 === now?.sha256) return;
  const { loss_mode: given } = config.actor_rollout_ref.actor.policy_loss;
  const was = saved ? `the definition of ${saved.name}` : "one of the library's";
  throw new RangeError(
    `Cannot resume: the loss must be ${was} that ${path} was trained with, got ${saved?.name === given ? "another definition" : given}`,
  );
}
