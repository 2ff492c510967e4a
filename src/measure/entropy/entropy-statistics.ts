import { withEnds } from "../../base/text/interval-text.js";
import { defined } from "../../../common/options/defined.js";
import type { BootstrapEstimate } from "./bootstrap.js";
import { type CallConcentration, callConcentration } from "./call-concentration.js";
import { type DistanceProfile, entropyByDistance } from "./entropy-by-distance.js";
import { entropyContent, type EntropyContent } from "./entropy-content.js";
import { entropyOutcome, type TrajectoryScores } from "./entropy-outcome.js";
import { type EntropyRise, entropyRise, recordedRise } from "./entropy-rise.js";
import { type ProfiledTree, treesOf } from "./model-tokens.js";
import type { EntropyStatisticOptions } from "./options.js";

/** All that the trees say about whether entropy peaks at tool calls. */
export interface EntropyStatistics {
  rise: EntropyRise;
  /** Share of tool rounds whose recorded entropy rose above the trajectory's baseline. */
  recorded: BootstrapEstimate;
  profile: DistanceProfile;
  concentration: CallConcentration;
  content: EntropyContent;
  /** Undefined without scores. */
  outcome?: BootstrapEstimate;
  /** In a line or two, with what it was measured by. */
  text: string;
}

/**
 * "Does entropy peak at tool calls?" ARPO's premise and the objection to it, measured on the same trees.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout } from "arpo-lab/rollout";
 * import { entropyStatistics } from "arpo-lab/experimental/entropy";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const tools = new ToolSet([calculator()]);
 * const trees = await rollout(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], { n: 8, tools });
 * assert.match(entropyStatistics(trees).text, /^entropy in the 20 tokens after a result/);
 * assert.match(entropyStatistics([]).text, /undefined/);
 * ```
 */
export function entropyStatistics(
  trees: ProfiledTree | Iterable<ProfiledTree>,
  options: EntropyStatisticOptions & { scored?: TrajectoryScores } = {},
): EntropyStatistics {
  const list = treesOf("measure entropy at calls", trees);
  const { scored, ...statistic } = options;
  const { draws, seed } = statistic;
  const rise = entropyRise(list, statistic);
  const { rose: recorded } = recordedRise(list, { draws, seed });
  const concentration = callConcentration(list, statistic);
  const outcome = scored && entropyOutcome(list, scored, statistic).correlation;
  const found = {
    ...{ rise, recorded, concentration },
    profile: entropyByDistance(list, statistic),
    content: entropyContent(list, statistic),
    ...defined({ outcome }),
  };
  return { ...found, text: inWords(found) };
}

function inWords({ rise, concentration, outcome }: Omit<EntropyStatistics, "text">): string {
  const { k, share } = concentration;
  const scale = concentration.zScore ? ", trajectories on one scale" : "";
  const parts = [
    `${rise.signal} in the ${k} tokens after a result, less the rest of the trajectory: ${told(rise.againstRest, "trajectories")}`,
    `how much more often its top ${Number((100 * share).toPrecision(3))}% stand at calls than any: ${told(concentration.concentration, `tokens${scale}`)}`,
  ];
  if (outcome) parts.push(`rank correlation with outcomes ${told(outcome, "forks")}`);
  return parts.join("; ");
}

/** An estimate in words. */
function told({ value, low, high, count, why }: BootstrapEstimate, of: string): string {
  if (value === undefined) return `undefined (${why ?? "nothing to tell it from"})`;
  if (low === undefined || high === undefined) return `${value.toFixed(2)} (${count} ${of})`;
  const said = withEnds(value, low, high);
  return `${said.value} (95% ${said.low} to ${said.high}, ${count} ${of})`;
}
