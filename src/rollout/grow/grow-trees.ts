import { expectManyListeners } from "#platform/process";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import type { Policy } from "../../policy/policy.js";
import { ConsecutivePenalty } from "../branch/consecutive-penalty.js";
import { segmentEnd, stepOf } from "../expand/segment-steps.js";
import { Enough } from "../enough.js";
import type { ReadyOptions } from "../options.js";
import { type SegmentRule, segmentsOf } from "../rules/definition.js";
import { type Expansion, expansionOf, type RolloutConfig } from "../settings.js";
import type { EntropyMonitor } from "../tree/tree-values.js";
import { type Environment, environment } from "./environment.js";
import { growByChains, liveChains } from "./schedule-chains.js";
import type { BranchPoint, LiveNode, LiveTrajectory } from "./live-trajectory.js";
import { monitorEntropy } from "./monitor-entropy.js";
import { TreeRun } from "./tree-run.js";
import type { TreeStart } from "./tree-start.js";

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
async function growInLockstep(
  env: Environment,
  runs: readonly TreeRun[],
): Promise<(EntropyMonitor | undefined)[]> {
  const { config } = env;
  const monitors = config.dynamicRollouts && config.n > 1 ? await monitorEntropy(env, runs) : [];
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
async function growAlone(env: Environment, run: TreeRun): Promise<EntropyMonitor | undefined> {
  const { config } = env;
  const monitor =
    config.dynamicRollouts && config.n > 1 ? (await monitorEntropy(env, [run]))[0] : undefined;
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

/**
 * Grows one tree by segments of a fixed number of tokens: after each, every path that goes on is
 * continued as often as the rule says. A tool's result counts as tokens of its segment.
 */
async function growBySegments(
  env: Environment,
  run: TreeRun,
  rule: SegmentRule<Expansion>,
): Promise<void> {
  const { config } = env;
  const settings = expansionOf(config)!;
  const { segments } = rule;
  const sizes = segmentsOf(rule, settings);
  const random = run.random.split("expand");
  const misplaced = config.compat.treepoFirstStep ?? false;
  const start = run.prefixTokens.length;
  // What is finished may be gone back into.
  run.retaining = segments.back !== undefined;

  let paths = run.start(segments.first(settings, { width: config.n, random, misplaced }));
  for (let round = 1; paths.length > 0; round++) {
    await Promise.all(paths.map((trajectory) => oneSegment(env, run, trajectory, sizes)));
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
  env: Environment,
  run: TreeRun,
  trajectory: LiveTrajectory,
  sizes: ReturnType<typeof segmentsOf>,
): Promise<void> {
  const { config } = env;
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

/** A grown tree and what pre-monitoring said about its prompt. */
export interface Grown {
  run: TreeRun;
  monitor: Awaited<ReturnType<typeof growAlone>>;
}

/** Grows one tree as its rule says. */
function growOne(env: Environment, run: TreeRun): ReturnType<typeof growAlone> {
  const { rule } = env;
  if (!rule) return growAlone(env, run);
  const grown = "segments" in rule ? growBySegments(env, run, rule) : growByChains(env, run, rule);
  return grown.then(() => undefined);
}

/** A tree failed when others were complete. */
export class GrowthFailure extends Error {
  constructor(
    readonly reason: unknown,
    /** In the order of the starts, with nothing where a tree is not complete. */
    readonly grown: readonly (Grown | undefined)[],
  ) {
    super("Cannot grow all trees: one failed", { cause: reason });
  }
}

/**
 * Grows trees in one session; whatever happens, the session is closed afterwards. Throws a
 * `GrowthFailure` where some are complete that do not depend on the one that failed.
 */
export async function growTrees(
  policy: Policy,
  config: RolloutConfig,
  options: ReadyOptions,
  starts: readonly TreeStart[],
): Promise<Grown[]> {
  options.signal?.throwIfAborted();
  // One tree's failure stops the others at once instead of after their last token.
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  expectManyListeners(signal); // Every running trajectory and tool listens.
  const acting = Object.assign(
    {},
    ...starts.map(({ episodes }) => episodes?.descriptions),
  ) as Record<string, string>;
  const env: Environment = environment(policy, config, options, signal, acting);
  try {
    const runs = starts.map((start) => new TreeRun(env, start));
    if (config.scheduling === "lockstep") {
      const monitors = await growInLockstep(env, runs);
      for (const run of runs) await run.settle();
      return runs.map((run, i) => ({ run, monitor: monitors[i] }));
    }
    const semaphore = new Semaphore(options.promptsAtOnce ?? 64);
    let failure: { reason: unknown } | undefined;
    const grown = await Promise.all(
      runs.map(async (run) => {
        try {
          const monitor = await semaphore.run(() => growOne(env, run), signal);
          await run.settle();
          return { run, monitor };
        } catch (error) {
          failure ??= { reason: error };
          stop.abort(error);
          return undefined;
        }
      }),
    );
    const { aborted = false, reason } = options.signal ?? {};
    if (failure && (!aborted || reason instanceof Enough) && grown.some((g) => g)) {
      throw new GrowthFailure(failure.reason, grown);
    }
    if (failure) throw failure.reason;
    return grown.map((g) => g!);
  } finally {
    stop.abort(new Error("Cannot go on: the rollout is over"));
    env.session.dispose();
  }
}
