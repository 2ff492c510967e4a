import { choosePoints, roundsOf } from "../expand/choose-points.js";
import type { ExpansionSettings } from "../branch/family/settings.js";
import { Random } from "../../random/random.js";
import type { ExpansionPlan } from "./expansion-plan.js";
import { followSegments } from "./follow-segments.js";
import type { Replay } from "./replay-result.js";
import { SeenTrajectories } from "./seen-trajectories.js";

/**
 * Chooses anew in every round of a plan. Uses nothing of the tree besides, so that the explorer's page can
 * run this very function.
 */
export function followExpansion(
  plan: ExpansionPlan,
  settings: ExpansionSettings = plan.settings,
): Replay {
  const seen = new SeenTrajectories(plan.chains);
  if (settings.rule === "treepo" || settings.rule === "spo-tree") {
    followSegments(plan, settings, seen);
  } else {
    const random = Random.restore(plan.random).split("expand");
    for (let round = 1; round <= roundsOf(settings); round++) {
      const made = seen.points.length + seen.chains.filter(({ kind }) => kind === "initial").length;
      const budget = Math.max(0, plan.n - made);
      const state = { random: random.split(round), budget, bases: plan.bases };
      const choices = choosePoints(settings, seen.now(), state);
      for (const [order, choice] of choices.entries()) seen.take(round, order, choice);
    }
  }
  const { points, present } = seen;
  return {
    settings,
    attempts: [],
    points,
    branches: points.length,
    before: plan.chains.filter(({ kind }) => kind === "branch").length,
    unseen: points.filter(({ child }) => child === undefined).length,
    missing: plan.chains
      .filter(({ id, kind }) => kind === "branch" && !present.has(id))
      .map(({ id }) => id),
  };
}
