import { batchesAhead, type StalenessLimit } from "./definition.js";

/** `max_head_offpolicyness`: a bound on all that was drawn, so that nothing is older than it. The bound is 0 as shipped. */
export const areal: StalenessLimit = {
  name: "areal",
  title: "AReaL, max_head_offpolicyness",
  words: "nothing is drawn that would be more than the bound old",
  bound: 0,
  counts: "updates",
  admits: batchesAhead,
  older: "trained",
};
