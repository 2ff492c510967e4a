import { Random } from "../../base/random/random.js";
import { definitionOf, type ExpansionSettings } from "../rules/registry.js";
import type { Choice } from "../expand/choice.js";
import type { PlannedChain } from "../expand/plan-chains.js";
import { segmentEnd, stepOf } from "../expand/segment-steps.js";
import { type RuleDefinition, type SegmentRule, segmentsOf } from "../rules/definition.js";
import { roundsOf } from "../rules/settings.js";
import type { ExpansionPlan } from "./plan-expansion.js";
import type { Replay, ReplayPoint } from "./replay-result.js";

/** The trajectories of a tree as a replay takes them up. */
class SeenTrajectories {
  readonly present: Set<number>;
  readonly points: ReplayPoint[] = [];

  constructor(readonly chains: readonly PlannedChain[]) {
    this.present = new Set(chains.filter(({ kind }) => kind === "initial").map(({ id }) => id));
  }

  /** The trajectories that exist so far. */
  now(): PlannedChain[] {
    return this.chains.filter(({ id }) => this.present.has(id));
  }

  /** Takes up the next trajectory of the tree that leaves there, if there is one. */
  take(round: number, order: number, choice: Choice): PlannedChain | undefined {
    const child = this.chains.find(
      ({ id, kind, parent, split }) =>
        kind === "branch" &&
        !this.present.has(id) &&
        parent === choice.trajectory &&
        split === choice.at,
    );
    if (child) this.present.add(child.id);
    this.points.push({ round, order, ...choice, ...(child ? { child: child.id } : {}) });
    return child;
  }
}

/**
 * A path that goes on: a trajectory of the tree, or one that it does not have and that is taken to
 * continue.
 */
interface Path {
  chain: PlannedChain;
  isSeen: boolean;
  length: number;
}

/** How far a trajectory goes in its segment: to its end, or to the trajectory's own. */
const afterSegment = (sizes: ReturnType<typeof segmentsOf>, { chain, length }: Path) =>
  Math.min(segmentEnd(sizes, { start: chain.start, length }), chain.length);

/**
 * Continues the trajectories of a plan segment by segment. A trajectory that the tree does not have is
 * taken to continue as long as the one it leaves; finished paths are not gone back into.
 */
function followSegments(
  plan: ExpansionPlan,
  { rule, settings }: { rule: SegmentRule<ExpansionSettings>; settings: ExpansionSettings },
  seen: SeenTrajectories,
): void {
  const sizes = segmentsOf(rule, settings);
  const stepAt = ({ chain: { start }, length }: Path) => stepOf(sizes.segment, { start, length });
  let paths = seen.now().map((chain): Path => ({ chain, isSeen: true, length: chain.start }));
  let finishedInAll = 0;
  for (let round = 1; paths.length > 0; round++) {
    const moved = paths.map((path) => ({ ...path, length: afterSegment(sizes, path) }));
    const going = moved.filter(
      (path) => path.length < path.chain.length && stepAt(path) < sizes.depth,
    );
    const finished = moved.length - going.length;
    finishedInAll += finished;
    const counts = rule.segments.continuations(settings, {
      going: going.map((path) => ({
        step: stepAt(path),
        logprobs: logprobsUntil(path.chain, path.length),
      })),
      ...{ finished, finishedInAll, width: plan.n },
    });
    let order = 0;
    paths = going.flatMap((path, i) => [
      path,
      ...Array.from({ length: counts[i]! - 1 }, () => continued(path, round, order++)),
    ]);
  }

  function continued({ chain, isSeen, length }: Path, round: number, order: number): Path {
    const choice = { trajectory: chain.id, at: length, score: 0 };
    const child = isSeen ? seen.take(round, order, choice) : undefined;
    if (!isSeen) seen.points.push({ round, order, ...choice });
    return { chain: child ?? chain, isSeen: child !== undefined, length };
  }
}

/** ln p of what was drawn up to a place; nothing where the plan does not carry it. */
function logprobsUntil({ drawn }: PlannedChain, length: number): number[] {
  return drawn ? drawn.logprobs.filter((_, i) => drawn.places[i]! < length) : [];
}

/**
 * Chooses anew in every round of a plan. Uses nothing of the tree besides, so that the explorer's page can
 * run this very function.
 */
export function followExpansion(
  plan: ExpansionPlan,
  settings: ExpansionSettings = plan.settings,
  rule: RuleDefinition = definitionOf(settings),
): Replay {
  const seen = new SeenTrajectories(plan.chains);
  if ("segments" in rule) {
    followSegments(plan, { rule, settings }, seen);
  } else {
    const random = Random.restore(plan.random).split("expand");
    for (let round = 1; round <= roundsOf(settings); round++) {
      const made = seen.points.length + seen.chains.filter(({ kind }) => kind === "initial").length;
      const budget = Math.max(0, plan.n - made);
      const state = { random: random.split(round), budget, bases: plan.bases };
      const choices = rule.choose(settings, seen.now(), state);
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
