import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import {
  expansionRules,
  publishedExpansion,
  type ExpansionSettings,
} from "../../rollout/branch/family/settings.js";
import { inAppoOrder } from "../../rollout/branch/family/appo.js";
import type { ExpansionPlan } from "../../rollout/replay/expansion-plan.js";
import { planExpansion } from "../../rollout/replay/plan-expansion.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { PackedExpansions, PackedPlan } from "./payload.js";

/** Places of all rows together that the page carries for a rule. */
const places = 1024;

/**
 * What every rule that looks at what was written may choose in a tree: by the tree's own settings, or the
 * published ones. Rules that need what the tree does not carry are left out.
 */
export function expansionPlans(
  tree: RolloutTree,
  tokenizer: Tokenizer | undefined,
): PackedExpansions {
  const most = Math.max(
    4,
    Math.min(16, Math.floor(places / Math.max(1, tree.trajectories.length))),
  );
  const packed: PackedExpansions = { trajectories: [], most, plans: {} };
  const own = tree.config.expansion;
  for (const rule of expansionRules) {
    const settings: ExpansionSettings = own?.rule === rule ? own : publishedExpansion[rule];
    // A budget may be spent on one row.
    const isBudget = rule === "appo" || rule === "appo-rollout";
    try {
      const plan = planExpansion(tree, settings, {
        tokenizer,
        ...(isBudget ? {} : { most: Math.max(most, mostOf(settings)) }),
      });
      packed.trajectories = plan.chains.map(
        ({ id, parent, tree: root, start, split, length, kind }) => {
          return [id, parent, root, start, split, length, kind === "initial" ? 1 : 0];
        },
      );
      packed.plans[rule] = pack(isBudget ? withinBudget(plan) : plan);
    } catch (error) {
      // Some trees carry no numbers, some no texts; every other error is one.
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return packed;
}

/** The plan with the places alone that the budget reaches. */
function withinBudget(plan: ExpansionPlan): ExpansionPlan {
  const { chains, n, settings } = plan;
  const first = chains.filter(({ kind }) => kind === "initial");
  const all = first.flatMap(({ id, places: own }) =>
    own.map((place) => ({ ...place, trajectory: id, strict: place.strict ?? false, place })),
  );
  const order = settings.rule === "appo" ? inAppoOrder(all) : all;
  const kept = new Set(order.slice(0, Math.max(0, n - first.length)).map(({ place }) => place));
  return {
    ...plan,
    chains: chains.map((chain) => ({
      ...chain,
      places: chain.places.filter((place) => kept.has(place)),
    })),
  };
}

const mostOf = (settings: ExpansionSettings) => ("points" in settings ? settings.points : 0);

function pack({ chains, ...rest }: ExpansionPlan): PackedPlan {
  return {
    ...rest,
    places: chains.map(({ places: own }) =>
      own.flatMap(({ at, token, place, score, strict }) => [
        at,
        token,
        place,
        score,
        strict ? 1 : 0,
      ]),
    ),
    counts: chains.map(({ count }) => count),
    turns: chains.map(({ turns }) =>
      turns.flatMap(({ start, end, signal }) => [start, end, signal]),
    ),
  };
}
