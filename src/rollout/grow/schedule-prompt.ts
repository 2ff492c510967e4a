import { ConsecutivePenalty } from "../branch/consecutive-penalty.js";
import type { Environment } from "./environment.js";
import type { BranchPoint, LiveRow } from "./live-row.js";
import { monitorEntropy } from "./monitor-entropy.js";
import type { TreeRun } from "./tree-run.js";
import type { EntropyMonitor } from "../tree/tree-values.js";

/** What became of a row in a round; `next` is its following round, already under way. */
interface Step {
  point?: BranchPoint;
  next?: Promise<Step>;
}

/**
 * Grows one tree as if its prompt were alone.
 *
 * Whether a row branches never changes what the row itself does next. So a row goes on as soon as its
 * tool has answered, leaving a fork behind where it stood, and the round is decided from those forks
 * when its last row has come so far: the same decisions as in rounds, without anybody waiting.
 */
export async function growAlone(
  env: Environment,
  run: TreeRun,
): Promise<EntropyMonitor | undefined> {
  const { config } = env;
  const monitor =
    config.dynamicRollouts && config.n > 1 ? (await monitorEntropy(env, [run]))[0] : undefined;
  const penalty = new ConsecutivePenalty(1);

  const advance = async (row: LiveRow, round: number): Promise<Step> => {
    const left = config.responseLength - row.length;
    const node = await run.generate(row, round, Math.max(1, left));
    const outcome = run.classify(row, node);
    const fits =
      outcome.kind === "call" ? await run.call(row, round, outcome.tag, outcome.input) : true;
    if (!run.survives(row, outcome, fits)) return {};
    const point = await run.branchPoint(row, true);
    const next = advance(row, round + 1);
    next.catch(() => undefined); // Its failure is seen when the round is awaited.
    return { point, next };
  };

  const rows = run.start(Math.min(monitor?.initialRollouts ?? config.initialRollouts, config.n));
  let active = rows.map((row) => advance(row, 0));
  for (let round = 0; active.length > 0; round++) {
    const steps = await Promise.all(active);
    const going = steps.filter((step) => step.next !== undefined);
    const points = going.map((step) => step.point!);
    const born = run.branch(round, points, penalty.count(0));
    const fresh = going.length === 0 ? run.refill(round) : undefined;
    if (fresh) born.push(fresh);
    penalty.endRound(new Set(born.length > 0 ? [0] : []));
    active = [...going.map((step) => step.next!), ...born.map((row) => advance(row, round + 1))];
  }
  run.close();
  return monitor;
}
