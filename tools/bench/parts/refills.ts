// What it brings to make refills together: a tree of 16 sequences where no sequence calls a tool, so that
// all sequences besides the first few are fresh ones, which the reference makes one after the other.
import type { Policy } from "../../../src/policy/policies.js";
import { rollout } from "../../../src/rollout/rollout.js";
import { rolloutPresets } from "../../../src/rollout/presets.js";
import type { RolloutOptions } from "../../../src/rollout/options.js";
import type { Figure } from "../figure.js";
import { beside } from "./beside.js";

/** One figure: seconds of `prompts` trees, beside the same trees with refills one at a time. */
export async function refilled(
  name: string,
  policy: Policy,
  backend: string,
  prompts: readonly { prompt: string }[],
  options: RolloutOptions,
  runs?: number,
): Promise<Figure> {
  const run = (refillsAhead: boolean) => () =>
    rollout(policy, prompts, { ...rolloutPresets.arpo, ...options, refillsAhead, seed: 1 });
  const [together, inLine] = await beside(run(true), run(false), { runs });
  return {
    ...{ name, value: together, unit: "s", backend },
    ...{ baseline: "refills one at a time", baselineValue: inLine, ratio: together / inLine },
  };
}
