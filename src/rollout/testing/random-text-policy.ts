import { ScriptedPolicy, type ScriptSituation } from "./scripted-policy.js";

/**
 * A policy that writes random text: it thinks, calls a calculator (sometimes wrongly) and answers.
 * All it does comes from the trajectory's own random stream.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const [a, b] = await rollout(randomTextPolicy(), [{ prompt: "?" }, { prompt: "?" }], { seed: 1 });
 * assert.notDeepEqual(a.trajectories[0].text, b.trajectories[0].text);
 * ```
 */
export function randomTextPolicy(wait?: (at: ScriptSituation) => Promise<void>): ScriptedPolicy {
  return new ScriptedPolicy(async (at) => {
    await wait?.(at);
    const { random } = at.options;
    const u = random.uniform();
    const words = "abcdefgh".slice(0, 1 + random.integer(8)).repeat(1 + random.integer(3));
    const confidence = 0.3 + 0.7 * random.uniform();
    if (u < 0.55) return { text: `${words}<calc>${random.integer(9)}+1</calc>`, confidence };
    if (u < 0.6) return { text: `${words}</calc>`, confidence };
    return { text: `${words}\u0001`, confidence };
  });
}
