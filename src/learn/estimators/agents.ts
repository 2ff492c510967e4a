// Advantages of trajectories of several agents, by prime-rl: what has a role is compared with its own.
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions, share } from "../../../common/options/check-options.js";
import { requireFinite } from "../masked.js";
import { mean } from "./base/estimator.js";
import { perGroup } from "./credit.js";

/**
 * Role-conditioned advantage estimation (SPIRAL): each score less its agent's running mean so far, which then moves
 * towards it. Scores count in their order.
 * @param scores one per trajectory
 * @param agents who each is of
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { roleBaseline } from "arpo-lab/experimental/learn";
 *
 * const { advantages, baselines } = roleBaseline([1, 0], ["solver", "solver"], { decay: 0.5 });
 * assert.deepEqual(advantages, [1, -0.5]);
 * assert.deepEqual(baselines, { solver: 0.25 });
 * ```
 */
export function roleBaseline(
  scores: readonly number[],
  agents: readonly string[],
  options: {
    /** What a running mean keeps of itself. Default: 0.95. */
    decay?: number;
    /** The running means so far. Default: 0. */
    baselines?: Readonly<Record<string, number>>;
  } = {},
): { advantages: number[]; baselines: Record<string, number> } {
  checkNamed(scores, { agents });
  checkOptions("estimate advantages", options, { decay: share, baselines: "object?" });
  const { decay = 0.95, baselines: given = {} } = options;
  const found = new Map(Object.entries(given));
  const advantages = scores.map((score, i) => {
    const before = found.get(agents[i]!) ?? 0;
    found.set(agents[i]!, decay * before + (1 - decay) * score);
    return score - before;
  });
  return { advantages, baselines: Object.fromEntries(found) };
}

/**
 * Hierarchical GRPO: a solver's score less the mean of the solvers of its episode, any other's less the mean of its role
 * in the whole group. One that is alone gets 0.
 * @param scores one per trajectory of a group
 * @param agents the role of each
 * @param episodes the episode of each
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { hierarchicalGrpo } from "arpo-lab/experimental/learn";
 *
 * const agents = ["proposer", "solver", "solver", "proposer"];
 * assert.deepEqual(hierarchicalGrpo([1, 1, 0, 0], agents, [0, 0, 0, 1]), [0.5, 0.5, -0.5, -0.5]);
 * ```
 */
export function hierarchicalGrpo(
  scores: readonly number[],
  agents: readonly string[],
  episodes: readonly (string | number)[],
): number[] {
  checkNamed(scores, { agents, episodes });
  const groups = agents.map((agent, i) =>
    JSON.stringify(agent === "solver" ? [agent, String(episodes[i])] : [agent]),
  );
  const pools = perGroup(groups, scores);
  return scores.map((score, i) => score - mean(pools.get(groups[i]!)!));
}

function checkNamed(
  scores: readonly number[],
  lists: Readonly<Record<string, readonly (string | number)[]>>,
): void {
  const kinds = Object.fromEntries(Object.keys(lists).map((name) => [name, "list" as const]));
  checkArguments("estimate advantages", { scores, ...lists }, { scores: "list", ...kinds });
  requireFinite("estimate advantages", "scores", [scores], { nameOf: () => "the scores" });
  for (const [name, list] of Object.entries(lists)) {
    if (list.length === scores.length) continue;
    throw new RangeError(
      `Cannot estimate advantages: ${name} must have one for each of the ${scores.length} scores, got ${list.length}`,
    );
  }
}
