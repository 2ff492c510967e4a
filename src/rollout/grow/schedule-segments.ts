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
import type { LiveNode, LiveRow } from "./live-row.js";
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
    await Promise.all(paths.map((row) => oneSegment(env, run, row)));
    const going = paths.filter(({ end }) => end === undefined);
    const counts = continuations(settings, {
      going: going.map((row) => ({ start, length: row.length, logprobs: drawnLogprobs(row) })),
      finished: paths.length - going.length,
      finishedInAll: run.rows.filter(({ end }) => end !== undefined).length,
      width: config.n,
    });
    let order = 0;
    const leave = (row: LiveRow, at: number) =>
      run.leave(row, at, { round, order: order++, at, score: 0 });
    paths = going.flatMap((row, i) => [
      row,
      ...Array.from({ length: counts[i]! - 1 }, () => leave(row, row.length)),
    ]);
    if (paths.length === 0 && settings.rule === "treepo" && run.remaining > 0) {
      paths = wayBack(run, settings, round).map(({ row, at }) => leave(run.rows[row]!, at));
    }
  }
  run.kept = run.rows.map(({ row }) => row);
  run.close();
}

function wayBack(run: TreeRun, settings: SettingsOf<"treepo">, round: number): Return[] {
  const random = run.random.split("expand").split(round);
  return goBack(settings, liveChains(run), { wanted: run.remaining, random });
}

/** Lets a row write to the end of its segment or its own. */
async function oneSegment(env: Environment, run: TreeRun, row: LiveRow): Promise<void> {
  const { config } = env;
  const settings = config.expansion as Settings;
  const start = run.prefixTokens.length;
  const step = stepOf(settings, { start, length: row.length });
  const until = Math.min(
    config.responseLength,
    segmentEnd(settings, { start, length: row.length }),
  );
  while (row.length < until) {
    const node = await run.generate(row, step, until - row.length);
    const outcome = run.classify(row, node);
    const fits =
      outcome.kind === "call" ? await run.call(row, step, outcome.tag, outcome.input) : true;
    if (!run.survives(row, outcome, fits)) return;
  }
  const isDeep =
    settings.rule === "treepo" && stepOf(settings, { start, length: row.length }) >= settings.depth;
  if (isDeep) run.end(row, "length");
}

/** ln p of every token that was drawn on the way to a row's end. */
function drawnLogprobs(row: LiveRow): number[] {
  const nodes: LiveNode[] = [];
  for (let node = row.leaf; node && node.row >= 0; node = node.parent) nodes.unshift(node);
  return nodes.flatMap(({ logprobs }) => [...logprobs]);
}
