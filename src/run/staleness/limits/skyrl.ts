import { batchesAhead, type StalenessLimit } from "./definition.js";

/** `max_staleness_steps`: AReaL's rule, whose version is the step before. */
export const skyrl: StalenessLimit = {
  name: "skyrl",
  title: "SkyRL, max_staleness_steps",
  words: "as AReaL's; what is older all the same is trained on",
  bound: 4,
  counts: "updates",
  admits: batchesAhead,
  older: "trained",
};
