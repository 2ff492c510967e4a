import { segmentEnd, stepOf } from "../expand/segment-steps.js";
import { type SegmentRule, segmentsOf } from "../rules/definition.js";
import { slipsIn } from "../branch/slips.js";
import { type Expansion, expansionOf } from "../settings.js";
import type { RolloutState } from "./rollout-state.js";
import type { LiveNode, LiveTrajectory } from "./live-trajectory.js";
import { liveChains } from "./schedule-chains.js";
import type { TreeRun } from "./tree-run.js";

/**
 * Grows one tree by segments of a fixed number of tokens: after each, every path that goes on is
 * continued as often as the rule says. A tool's result counts as tokens of its segment.
 */
export async function growBySegments(
  shared: RolloutState,
  run: TreeRun,
  rule: SegmentRule<Expansion>,
): Promise<void> {
  const { config } = shared;
  const settings = expansionOf(config)!;
  const { segments } = rule;
  const sizes = segmentsOf(rule, settings);
  const random = run.random.split("expand");
  const misplaced = slipsIn(config).has("misplaced");
  const start = run.prefixTokens.length;
  // What is finished may be gone back into.
  run.retaining = segments.back !== undefined;

  let paths = run.start(segments.first(settings, { width: config.n, random, misplaced }));
  for (let round = 1; paths.length > 0; round++) {
    await Promise.all(paths.map((trajectory) => oneSegment(shared, run, trajectory, sizes)));
    const going = paths.filter(({ end }) => end === undefined);
    const counts = segments.continuations(settings, {
      going: going.map((trajectory) => ({
        step: stepOf(sizes.segment, { start, length: trajectory.length }),
        logprobs: drawnLogprobs(trajectory),
      })),
      finished: paths.length - going.length,
      finishedInAll: run.trajectories.filter(({ end }) => end !== undefined).length,
      width: config.n,
    });
    let order = 0;
    const leave = (trajectory: LiveTrajectory, at: number) =>
      run.leave(trajectory, at, { round, order: order++, at, score: 0 });
    paths = going.flatMap((trajectory, i) => [
      trajectory,
      ...Array.from({ length: counts[i]! - 1 }, () => leave(trajectory, trajectory.length)),
    ]);
    if (paths.length === 0 && segments.back && run.remaining > 0) {
      const how = { wanted: run.remaining, random: random.split(round) };
      paths = segments
        .back(settings, liveChains(run), how)
        .map(({ trajectory, at }) => leave(run.trajectories[trajectory]!, at));
    }
  }
  run.selection = run.trajectories.map(({ id }) => id);
  run.close();
}

/** Lets a trajectory write to the end of its segment or its own. */
async function oneSegment(
  shared: RolloutState,
  run: TreeRun,
  trajectory: LiveTrajectory,
  sizes: ReturnType<typeof segmentsOf>,
): Promise<void> {
  const { config } = shared;
  const start = run.prefixTokens.length;
  const step = stepOf(sizes.segment, { start, length: trajectory.length });
  const until = Math.min(
    config.responseLength,
    segmentEnd(sizes, { start, length: trajectory.length }),
  );
  while (trajectory.length < until) {
    const node = await run.generate(trajectory, step, until - trajectory.length);
    const outcome = run.classify(trajectory, node);
    const fits = outcome.kind === "call" ? await run.call(trajectory, step, outcome) : true;
    if (!run.survives(trajectory, outcome, fits)) return;
  }
  const isDeep = stepOf(sizes.segment, { start, length: trajectory.length }) >= sizes.depth;
  if (isDeep) run.end(trajectory, "length");
}

/** ln p of every token that was drawn on the way to a trajectory's end. */
function drawnLogprobs(trajectory: LiveTrajectory): number[] {
  const nodes: LiveNode[] = [];
  for (let node = trajectory.leaf; node && node.trajectory >= 0; node = node.parent)
    nodes.unshift(node);
  return nodes.flatMap(({ logprobs }) => [...logprobs]);
}
