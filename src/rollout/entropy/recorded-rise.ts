import { checkOptions, integer } from "../../arguments/check-options.js";
import { pathOf } from "../tree/tree-data.js";
import {
  bootstrap,
  type BootstrapOptions,
  type BootstrapEstimate,
  sumsByPrompt,
} from "./bootstrap.js";
import { type ProfiledTree, treesOf } from "./model-tokens.js";

/** What the rollout itself recorded of one segment that follows a tool result. */
export interface RecordedRound {
  prompt: string;
  node: number;
  trajectory: number;
  /** The segment's entropy as the branching rule sees it, and the one it is compared with. */
  entropy: number;
  baseline: number;
}

/**
 * ARPO's own number: the entropy that branching used of every segment after a tool result, less the
 * trajectory's baseline, as the rollout recorded both. The segment that is itself the baseline is left out.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { recordedRise } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tree = await rollout(randomTextPolicy(), { prompt: "a" }, { n: 8, tools: new ToolSet([calculator()]) });
 * const { rose, rounds } = recordedRise(tree);
 * assert.equal(rose.count, rounds.length);
 * assert.ok(rose.value! >= 0 && rose.value! <= 1);
 * ```
 */
export function recordedRise(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: BootstrapOptions = {},
): { rose: BootstrapEstimate; mean: BootstrapEstimate; rounds: RecordedRound[] } {
  const action = "read recorded entropies";
  checkOptions(action, options, { draws: integer(0), seed: integer(0) });
  const rounds = treesOf(action, trees).flatMap(roundsOf);
  const delta = ({ entropy, baseline }: RecordedRound) => entropy - baseline;
  const over = (name: string, value: (round: RecordedRound) => number): BootstrapEstimate => ({
    ...bootstrap(
      `recorded-${name}`,
      sumsByPrompt(rounds, (round) => [value(round), 1]),
      ([sum, n]) => sum! / n!,
      options,
    ),
    count: rounds.length,
    ...(rounds.length === 0 ? { why: "no segment after a tool result has an entropy" } : {}),
  });
  return {
    rose: over("rose", (round) => Number(delta(round) > 0)),
    mean: over("mean", delta),
    rounds,
  };
}

function roundsOf(tree: ProfiledTree): RecordedRound[] {
  const { id } = tree.task as { id?: unknown };
  const prompt = typeof id === "string" ? id : `#${tree.index}`;
  const firsts: (number | undefined)[] = [];
  return tree.trajectories.flatMap(({ id: row, kind, parent, leaf }) => {
    const own = pathOf(tree, leaf).filter(
      (node) => node.trajectory === row && node.kind === "model",
    );
    const inherits = tree.config.baseline === "ancestor" && kind === "branch";
    const first = inherits ? undefined : own[0];
    const baseline = inherits ? firsts[parent] : first?.entropy;
    firsts[row] = baseline;
    if (baseline === undefined || Number.isNaN(baseline)) return [];
    return own.flatMap((node): RecordedRound[] => {
      const { entropy, id } = node;
      const follows = node.parent >= 0 && tree.nodes[node.parent]!.kind === "tool";
      if (node === first || !follows || entropy === undefined || Number.isNaN(entropy)) return [];
      return [{ prompt, node: id, trajectory: row, entropy, baseline }];
    });
  });
}
