import type { Scored } from "./scored.js";
import { showScored } from "./show-scored.js";

/**
 * How scored trajectories show themselves: as a table, until `arpo-lab/view` is loaded (`arpo-lab`
 * loads it) and puts its own here. Rewards know nothing of views.
 */
export const scoredDisplay: { show: (scored: Scored) => Record<string, string> } = {
  show: showScored,
};
