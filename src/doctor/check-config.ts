import {
  checkOptions,
  either,
  notNegative,
  only,
  type OptionRules,
} from "../../common/options/check-options.js";
import { loadRules } from "../run/config/load-and-check.js";
import type { LoadOptions } from "../run/config/options.js";
import type { Check } from "./check.js";
import { batches } from "./config/batches.js";
import { branching } from "./config/branching.js";
import type { ConfigContext, Rule } from "./config/context.js";
import { correction } from "./config/correction.js";
import { cost } from "./config/cost.js";
import { lengths } from "./config/lengths.js";
import { credit } from "./config/credit.js";
import { losses } from "./config/losses.js";
import { numbers } from "./config/numbers.js";
import { outsideOf } from "./config/outside.js";
import { readConfig } from "./config/read-config.js";
import { readParts } from "./config/read-parts.js";
import { rewards } from "./config/rewards.js";
import { spelling } from "./config/spelling.js";
import { toolLimits } from "./config/tools.js";
import { trainerRules } from "./config/trainer.js";
import { endpointCheck, type EndpointToCheck } from "./machine/endpoints.js";
import { usableMemory } from "./machine/host.js";
import { keyChecks } from "./machine/keys.js";
import { measureSpeed } from "./machine/tensors.js";

export interface CheckConfigOptions extends LoadOptions {
  /** Bytes the run may use. Default: what this process may. */
  memory?: number;
  /** Operations a second, for how long a step takes. Default: measured; `false` leaves it out. */
  speed?: number | false;
  /** Endpoints to try, besides those of the tools. */
  endpoints?: readonly EndpointToCheck[];
}

const optionRules: OptionRules<CheckConfigOptions> = {
  ...loadRules,
  memory: notNegative,
  speed: either(notNegative, only(false)),
  endpoints: "list?",
};

const rules: readonly Rule[] = [
  lengths,
  batches,
  branching,
  toolLimits,
  rewards,
  spelling,
  numbers,
  losses,
  credit,
  correction,
  cost,
  trainerRules,
];

/**
 * What is wrong with a configuration, before a run finds out: keys, model, data, lengths, batch sizes,
 * branching budget, tools, rewards that cannot move, NaN, memory and time. Takes what `loadConfig` takes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { checkConfig } from "arpo-lab/experimental/doctor";
 *
 * const overrides = ["data.max_response_length=4096", "actor_rollout_ref.rollout.n=1"];
 * const checks = await checkConfig({ preset: ["arpo", "tiny"], overrides, speed: false });
 * const errors = checks.filter(({ status }) => status === "error").map(({ id }) => id);
 * assert.deepEqual(errors, ["context-too-short", "group-of-one"]);
 * ```
 */
export async function checkConfig(options: CheckConfigOptions = {}): Promise<Check[]> {
  checkOptions("check a configuration", options, optionRules);
  const { memory = usableMemory(), speed, endpoints = [], ...load } = options;
  const { loaded, checks } = await readConfig(load);
  if (!loaded) return checks;
  const { config, kept } = loaded;
  const { parts, checks: unread } = await readParts(config);
  const context: ConfigContext = {
    ...{ config, kept, memory },
    ...parts,
    speed: speed === false ? undefined : (speed ?? (await measureSpeed())),
  };
  const { endpoints: own, keys } = outsideOf(config);
  const all = [...own, ...endpoints];
  const reached = await Promise.all(all.map((endpoint) => endpointCheck(endpoint)));
  const needed = keyChecks(keys).slice(0, keys.length);
  return [
    ...checks,
    ...unread,
    ...rules.flatMap((rule) => [...rule(context)]),
    ...reached,
    ...needed,
  ];
}
