import { expectManyListeners } from "#platform/process";
import { Semaphore } from "../../base/concurrency/semaphore.js";
import type { Policy } from "../../policy/policy.js";
import { Enough } from "../enough.js";
import type { ReadyOptions } from "../options.js";
import type { RolloutConfig } from "../settings.js";
import type { EntropyMonitor } from "../tree/tree-values.js";
import { type RolloutState, rolloutState } from "./rollout-state.js";
import { growAlone } from "./schedule-alone.js";
import { growByChains } from "./schedule-chains.js";
import { growInLockstep } from "./schedule-lockstep.js";
import { growBySegments } from "./schedule-segments.js";
import { TreeRun } from "./tree-run.js";
import type { TreeStart } from "./tree-start.js";

/** A grown tree and what pre-monitoring said about its prompt. */
export interface Grown {
  run: TreeRun;
  monitor: EntropyMonitor | undefined;
}

/** Grows one tree as its rule says. */
function growOne(shared: RolloutState, run: TreeRun): Promise<EntropyMonitor | undefined> {
  const { rule } = shared;
  if (!rule) return growAlone(shared, run);
  const grown =
    "segments" in rule ? growBySegments(shared, run, rule) : growByChains(shared, run, rule);
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
  const shared: RolloutState = rolloutState(policy, config, options, signal, acting);
  try {
    const runs = starts.map((start) => new TreeRun(shared, start));
    if (config.scheduling === "lockstep") {
      const monitors = await growInLockstep(shared, runs);
      for (const run of runs) await run.settle();
      return runs.map((run, i) => ({ run, monitor: monitors[i] }));
    }
    const semaphore = new Semaphore(options.promptsAtOnce ?? 64);
    let failure: { reason: unknown } | undefined;
    const grown = await Promise.all(
      runs.map(async (run) => {
        try {
          const monitor = await semaphore.run(() => growOne(shared, run), signal);
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
    shared.session.dispose();
  }
}
