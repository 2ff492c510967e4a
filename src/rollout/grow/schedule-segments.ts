import {
  continuations,
  firstPaths,
  goBack,
  segmentEnd,
  stepOf,
  type Return,
} from "../expand/segment-steps.js";
import type { SettingsOf } from "../branch/family/settings.js";
import type { Environment } from "./environment.js";
import { liveChains } from "./live-chains.js";
import type { LiveNode, LiveTrajectory } from "./live-trajectory.js";
import type { TreeRun } from "./tree-run.js";

type Settings = SettingsOf<"treepo" | "spo-tree">;

/**
 * Grows one tree by segments of a fixed number of tokens: after each, every path that goes on is
 * continued as often as the rule says. A tool's result counts as tokens of its segment.
 */
export async function growBySegments(env: Environment, run: TreeRun): Promise<void> {
  const { config } = env;
  const settings = config.expansion as Settings;
  const random = run.random.split("expand");
  const misplaced = config.compat.treepoFirstStep ?? false;
  const start = run.prefixTokens.length;
  // TreePO may go back into what is finished.
  run.retaining = settings.rule === "treepo";

  let paths = run.start(firstPaths(settings, { width: config.n, random, misplaced }));
  for (let round = 1; paths.length > 0; round++) {
    await Promise.all(paths.map((trajectory) => oneSegment(env, run, trajectory)));
    const going = paths.filter(({ end }) => end === undefined);
    const counts = continuations(settings, {
      going: going.map((trajectory) => ({
        start,
        length: trajectory.length,
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
    if (paths.length === 0 && settings.rule === "treepo" && run.remaining > 0) {
      paths = wayBack(run, settings, round).map(({ trajectory, at }) =>
        leave(run.trajectories[trajectory]!, at),
      );
    }
  }
  run.selection = run.trajectories.map(({ id }) => id);
  run.close();
}

function wayBack(run: TreeRun, settings: SettingsOf<"treepo">, round: number): Return[] {
  const random = run.random.split("expand").split(round);
  return goBack(settings, liveChains(run), { wanted: run.remaining, random });
}

/** Lets a row write to the end of its segment or its own. */
async function oneSegment(
  env: Environment,
  run: TreeRun,
  trajectory: LiveTrajectory,
): Promise<void> {
  const { config } = env;
  const settings = config.expansion as Settings;
  const start = run.prefixTokens.length;
  const step = stepOf(settings, { start, length: trajectory.length });
  const until = Math.min(
    config.responseLength,
    segmentEnd(settings, { start, length: trajectory.length }),
  );
  while (trajectory.length < until) {
    const node = await run.generate(trajectory, step, until - trajectory.length);
    const outcome = run.classify(trajectory, node);
    const fits =
      outcome.kind === "call" ? await run.call(trajectory, step, outcome.tag, outcome.input) : true;
    if (!run.survives(trajectory, outcome, fits)) return;
  }
  const isDeep =
    settings.rule === "treepo" &&
    stepOf(settings, { start, length: trajectory.length }) >= settings.depth;
  if (isDeep) run.end(trajectory, "length");
}

/** ln p of every token that was drawn on the way to a row's end. */
function drawnLogprobs(trajectory: LiveTrajectory): number[] {
  const nodes: LiveNode[] = [];
  for (let node = trajectory.leaf; node && node.trajectory >= 0; node = node.parent)
    nodes.unshift(node);
  return nodes.flatMap(({ logprobs }) => [...logprobs]);
}
