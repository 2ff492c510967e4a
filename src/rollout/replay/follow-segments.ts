import { continuations, segmentEnd, stepOf } from "../expand/segment-steps.js";
import type { SettingsOf } from "../branch/family/settings.js";
import type { PlannedChain } from "../expand/plan-chains.js";
import type { ExpansionPlan } from "./expansion-plan.js";
import type { SeenTrajectories } from "./seen-trajectories.js";

/** A path that goes on: a row of the tree, or one that it does not have and that is taken to go on. */
interface Path {
  chain: PlannedChain;
  isSeen: boolean;
  length: number;
}

/** How far a row goes in its segment: to its end, or to the row's own. */
const afterSegment = (settings: SettingsOf<"treepo" | "spo-tree">, { chain, length }: Path) =>
  Math.min(segmentEnd(settings, { start: chain.start, length }), chain.length);

/**
 * Continues the rows of a plan segment by segment. A row that the tree does not have is taken to go on as
 * long as the one it leaves; finished paths are not gone back into.
 */
export function followSegments(
  plan: ExpansionPlan,
  settings: SettingsOf<"treepo" | "spo-tree">,
  seen: SeenTrajectories,
): void {
  let paths = seen.now().map((chain): Path => ({ chain, isSeen: true, length: chain.start }));
  let finishedInAll = 0;
  for (let round = 1; paths.length > 0; round++) {
    const moved = paths.map((path) => ({ ...path, length: afterSegment(settings, path) }));
    const going = moved.filter(
      (path) => path.length < path.chain.length && !isDeep(settings, path),
    );
    const finished = moved.length - going.length;
    finishedInAll += finished;
    const counts = continuations(settings, {
      going: going.map(({ chain, length }) => ({
        start: chain.start,
        length,
        logprobs: logprobsUntil(chain, length),
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

const isDeep = (settings: SettingsOf<"treepo" | "spo-tree">, { chain, length }: Path): boolean =>
  settings.rule === "treepo" && stepOf(settings, { start: chain.start, length }) >= settings.depth;

/** ln p of what was drawn up to a place; nothing where the plan does not carry it. */
function logprobsUntil({ drawn }: PlannedChain, length: number): number[] {
  return drawn ? drawn.logprobs.filter((_, i) => drawn.places[i]! < length) : [];
}
