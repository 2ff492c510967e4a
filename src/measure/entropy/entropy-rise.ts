import { checkOptions, integer } from "../../../common/options/check-options.js";
import { pathOf } from "../../rollout/tree/tree-data.js";
import {
  bootstrap,
  type BootstrapEstimate,
  type BootstrapOptions,
  sumsByPrompt,
} from "./bootstrap.js";
import { type ModelToken, modelTokens, type ProfiledTree, treesOf } from "./model-tokens.js";
import { completed, type EntropyStatisticOptions } from "./options.js";

/** ARPO's premise in numbers: how the signal after tool results differs from the rest of its trajectories. */
export interface EntropyRise {
  /** Mean over the first k tokens after results, less the mean over the trajectory's other model tokens. */
  againstRest: BootstrapEstimate;
  /** The same less the mean over the trajectory's first k model tokens: ARPO's baseline. */
  againstStart: BootstrapEstimate;
  signal: string;
  k: number;
}

/**
 * Does entropy rise after tool results? One difference per trajectory, then the mean over trajectories with
 * its 95% interval over prompts. The tokens after a result count in the trajectory that wrote them; what
 * they are compared with is that trajectory from the prompt on. A trajectory without either is left out.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { entropyRise } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tools = new ToolSet([calculator()]);
 * const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], { n: 4, tools });
 * const { againstRest } = entropyRise(trees, { k: 5 });
 * assert.ok(againstRest.low! <= againstRest.value! && againstRest.value! <= againstRest.high!);
 * assert.equal(entropyRise([]).againstRest.value, undefined);
 * ```
 */
export function entropyRise(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyStatisticOptions = {},
): EntropyRise {
  const action = "measure a rise of entropy";
  const settings = completed(action, options);
  const { k, signal } = settings;
  const rows = treesOf(action, trees).flatMap((tree) => {
    const { prompt, tokens, trajectories } = modelTokens(tree, settings);
    return trajectories.map((path, trajectory) => ({
      prompt,
      ...ofTrajectory(
        path.map((i) => tokens[i]!),
        trajectory,
        k,
      ),
    }));
  });
  const over = (pick: "rest" | "start", why: string): BootstrapEstimate => {
    const known = rows.flatMap(({ prompt, [pick]: value }) =>
      value === undefined ? [] : [{ prompt, value }],
    );
    const sums = sumsByPrompt(known, ({ value }) => [value, 1]);
    const found = bootstrap(`rise-${pick}`, sums, ([sum, n]) => sum! / n!, settings);
    return { ...found, count: known.length, ...(known.length === 0 ? { why } : {}) };
  };
  return {
    againstRest: over(
      "rest",
      `no trajectory has a known ${signal} within ${k} tokens of a result and beyond`,
    ),
    againstStart: over("start", `no trajectory has a known ${signal} after a result`),
    signal,
    k,
  };
}

function ofTrajectory(path: readonly ModelToken[], trajectory: number, k: number) {
  const near = meanOf(path.filter((token) => token.trajectory === trajectory && token.after < k));
  const rest = meanOf(path.filter(({ after }) => !(after < k)));
  const start = meanOf(path.slice(0, k));
  return {
    rest: near === undefined || rest === undefined ? undefined : near - rest,
    start: near === undefined || start === undefined ? undefined : near - start,
  };
}

function meanOf(tokens: readonly ModelToken[]): number | undefined {
  const known = tokens.filter(({ value }) => !Number.isNaN(value));
  if (known.length === 0) return undefined;
  return known.reduce((sum, { value }) => sum + value, 0) / known.length;
}

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
  return tree.trajectories.flatMap(({ id: trajectory, kind, parent, leaf }) => {
    const own = pathOf(tree, leaf).filter(
      (node) => node.trajectory === trajectory && node.kind === "model",
    );
    const inherits = tree.config.baseline === "ancestor" && kind === "branch";
    const first = inherits ? undefined : own[0];
    const baseline = inherits ? firsts[parent] : first?.entropy;
    firsts[trajectory] = baseline;
    if (baseline === undefined || Number.isNaN(baseline)) return [];
    return own.flatMap((node): RecordedRound[] => {
      const { entropy, id } = node;
      const follows = node.parent >= 0 && tree.nodes[node.parent]!.kind === "tool";
      if (node === first || !follows || entropy === undefined || Number.isNaN(entropy)) return [];
      return [{ prompt, node: id, trajectory, entropy, baseline }];
    });
  });
}
