import { ConsecutivePenalty } from "../branch/consecutive-penalty.js";
import type { EntropyMonitor } from "../tree/tree-values.js";
import type { RolloutState } from "./rollout-state.js";
import type { BranchPoint, LiveTrajectory } from "./live-trajectory.js";
import { monitorEntropy } from "./monitor-entropy.js";
import type { TreeRun } from "./tree-run.js";

/** A trajectory that is active, and whose it is. */
interface Active {
  run: TreeRun;
  trajectory: LiveTrajectory;
}

/**
 * Grows all trees in the reference's rounds over the whole batch: every active trajectory generates with one
 * shared token limit, then all tools run, then branches are drawn prompt by prompt. The slowest trajectory
 * and the slowest tool of a round hold up everything else.
 */
export async function growInLockstep(
  shared: RolloutState,
  runs: readonly TreeRun[],
): Promise<(EntropyMonitor | undefined)[]> {
  const { config } = shared;
  const monitors = config.dynamicRollouts && config.n > 1 ? await monitorEntropy(shared, runs) : [];
  const penalty = new ConsecutivePenalty(runs.length);
  let active: Active[] = runs.flatMap((run, i) => {
    const trajectories = monitors[i]?.initialRollouts ?? config.initialRollouts;
    return run.start(Math.min(trajectories, config.n)).map((trajectory) => ({ run, trajectory }));
  });
  for (let round = 0; active.length > 0; round++) {
    const survivors = await oneRound(active, round, config.responseLength);
    const points = new Map<TreeRun, BranchPoint[]>();
    const standing = await all(
      survivors.map(({ run, trajectory }) => run.branches.point(trajectory, false)),
    );
    for (const [i, { run }] of survivors.entries()) {
      const list = points.get(run) ?? [];
      points.set(run, list);
      list.push(standing[i]!);
    }
    const born: Active[] = [];
    const gained = new Set<number>();
    const add = (run: TreeRun, trajectories: LiveTrajectory[]) => {
      for (const trajectory of trajectories) born.push({ run, trajectory });
      if (trajectories.length > 0) gained.add(runs.indexOf(run));
    };
    for (const [run, list] of points) {
      add(run, run.branches.decide(round, list, penalty.count(runs.indexOf(run))));
    }
    for (const run of runs) {
      const fresh = points.has(run) ? undefined : run.refill(round);
      if (fresh) add(run, [fresh]);
    }
    penalty.endRound(gained);
    active = [...survivors, ...born];
  }
  for (const run of runs) run.close();
  return runs.map((_, i) => monitors[i]);
}

/** Generate, classify, call, drop; the active trajectories, in order. */
async function oneRound(active: Active[], round: number, limit: number): Promise<Active[]> {
  const maxTokens = Math.max(1, ...active.map(({ trajectory }) => limit - trajectory.length));
  const nodes = await all(
    active.map(({ run, trajectory }) => run.generate(trajectory, round, maxTokens)),
  );
  const outcomes = active.map(({ run, trajectory }, i) => run.classify(trajectory, nodes[i]!));
  const fits = await all(
    active.map(({ run, trajectory }, i) => {
      const outcome = outcomes[i]!;
      return outcome.kind === "call" ? run.call(trajectory, round, outcome) : true;
    }),
  );
  return active.filter(({ run, trajectory }, i) =>
    run.survives(trajectory, outcomes[i]!, fits[i]!),
  );
}

/** Promise.all that waits for every promise before it rejects, so that nothing runs on unseen. */
async function all<T>(promises: readonly (T | Promise<T>)[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((s) => {
    if (s.status === "rejected") throw s.reason;
    return s.value;
  });
}
