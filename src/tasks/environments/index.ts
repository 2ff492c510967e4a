import { maze } from "./maze.js";
import { shop } from "./shop.js";

/**
 * Families of tasks that are acted out in an environment with a state: each set carries its environment.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { environments } from "arpo-lab/tools";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * assert.deepEqual(Object.keys(environments), ["maze", "shop"]);
 * const { train, environment } = environments.maze({ train: 2, test: 1 });
 * const policy = new ScriptedPolicy(() => ({ text: "<go>n</go>" }));
 * const [tree] = await rollout(policy, train, { environment, callLimit: 3 });
 * assert.match(tree.trajectories[0].toolCalls[0].text, /At [A-C][1-3]|Out/);
 * ```
 */
export const environments = { maze, shop };
