// What a stage cell uses when the session has not made its own: the tiny model that ships, and the
// tools of the task generators. Imported only when needed, because loading them takes a moment.
import { packagePath } from "#platform/modules";
import { world } from "../tasks/tasks/world.js";
import { taskTools } from "../tasks/task-tools.js";
import type { ModelPolicy } from "../policy/policy-from-model.js";
import { Policy } from "../policy/policies.js";

/**
 * Where the tiny model is.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { existsSync } from "node:fs";
 * import { tinyModel } from "arpo-lab/internal/stages";
 *
 * assert.ok(existsSync(`${tinyModel}/config.json`));
 * ```
 */
export const tinyModel: string = packagePath("data/models/tiny");

/**
 * The tiny model, loaded anew in every session.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { policy } from "arpo-lab/internal/stages";
 * import { rollout } from "arpo-lab/rollout";
 *
 * const tree = await rollout(policy, { prompt: "What is 12 + 30?" }, { n: 1, initialRollouts: 1 });
 * assert.match(tree.trajectories[0].text, /<python>/); // it asks for the tool it needs
 * ```
 */
export const policy: ModelPolicy = await Policy.load(tinyModel);

/**
 * Python in its sandbox, and search over the invented world.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { world } from "arpo-lab/run";
 * import { tools } from "arpo-lab/internal/stages";
 *
 * const { relation, subject, value } = world.facts[0];
 * const { text } = await tools.call("search", `${relation} of ${subject}`);
 * assert.ok(text.includes(value));
 * await tools.dispose();
 * ```
 */
export const tools: ReturnType<typeof taskTools> = taskTools(world);
