import type { StalenessLimit } from "./definition.js";

/** `max_off_policy_steps`: counted from the weights that a rollout began with. */
export const primeRl: StalenessLimit = {
  name: "prime-rl-async",
  title: "prime-rl, max_off_policy_steps",
  words: "groups that are older than the bound are dropped",
  bound: 8,
  counts: "updates",
  older: "dropped",
};
