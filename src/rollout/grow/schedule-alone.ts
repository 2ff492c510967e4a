import { ConsecutivePenalty } from "../branch/consecutive-penalty.js";
import type { EntropyMonitor } from "../tree/tree-values.js";
import type { RolloutState } from "./rollout-state.js";
import type { BranchPoint, LiveTrajectory } from "./live-trajectory.js";
import { monitorEntropy } from "./monitor-entropy.js";
import type { TreeRun } from "./tree-run.js";

/** What became of a trajectory in a round; `next` is its following round, already under way. */
interface Step {
  point?: BranchPoint;
  next?: Promise<Step>;
}

/**
 * Grows one tree as if its prompt were alone.
 *
 * Whether a trajectory branches never changes what the trajectory itself does next. So a trajectory
 * continues as soon as its tool has answered, leaving a fork behind where it stood, and the round is
 * decided from those forks when its last trajectory has come so far: the same decisions as in rounds,
 * without anybody waiting.
 */
export async function growAlone(
  shared: RolloutState,
  run: TreeRun,
): Promise<EntropyMonitor | undefined> {
  const { config } = shared;
  const monitor =
    config.dynamicRollouts && config.n > 1 ? (await monitorEntropy(shared, [run]))[0] : undefined;
  const penalty = new ConsecutivePenalty(1);

  const advance = async (trajectory: LiveTrajectory, round: number): Promise<Step> => {
    const left = config.responseLength - trajectory.length;
    const node = await run.generate(trajectory, round, Math.max(1, left));
    const outcome = run.classify(trajectory, node);
    const fits = outcome.kind === "call" ? await run.call(trajectory, round, outcome) : true;
    if (!run.survives(trajectory, outcome, fits)) return {};
    const point = await run.branches.point(trajectory, true);
    const next = advance(trajectory, round + 1);
    next.catch(() => undefined); // Its failure is seen when the round is awaited.
    return { point, next };
  };

  const trajectories = run.start(
    Math.min(monitor?.initialRollouts ?? config.initialRollouts, config.n),
  );
  let active = trajectories.map((trajectory) => advance(trajectory, 0));
  for (let round = 0; active.length > 0; round++) {
    const steps = await Promise.all(active);
    const going = steps.filter((step) => step.next !== undefined);
    const points = going.map((step) => step.point!);
    const born = run.branches.decide(round, points, penalty.count(0));
    const fresh = going.length === 0 ? run.refill(round) : undefined;
    if (fresh) born.push(fresh);
    penalty.endRound(new Set(born.length > 0 ? [0] : []));
    active = [
      ...going.map((step) => step.next!),
      ...born.map((trajectory) => advance(trajectory, round + 1)),
    ];
  }
  run.close();
  return monitor;
}
