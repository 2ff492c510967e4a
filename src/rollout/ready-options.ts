import { defined } from "../arguments/defined.js";
import { checkOptions } from "../arguments/check-options.js";
import { named } from "../arguments/named.js";
import { toolSetOf } from "../tools/tool-set.js";
import { branchRules } from "./branch/branch-rule.js";
import { rolloutRules } from "./option-rules.js";
import type { ReadyOptions, RolloutOptions } from "./options.js";
import { algorithmPresets } from "../preset-table.js";

/** Lays options over the preset they name, and makes a set of a list of tools. */
export function readyOptions(action: string, given: RolloutOptions): ReadyOptions {
  checkOptions(action, given, rolloutRules);
  const { preset, tools, ...own } = given;
  const below: ReadyOptions =
    preset === undefined ? {} : scaled(named(action, "preset", preset, algorithmPresets), own);
  return {
    ...below,
    ...defined(own),
    ...(tools === undefined ? {} : { tools: toolSetOf(action, tools) }),
  };
}

/** A preset's settings for another `n`: a tree starts with the same share of its trajectories. */
function scaled(preset: ReadyOptions, { n }: RolloutOptions): ReadyOptions {
  const { n: usual, initialRollouts, rule } = preset;
  const grows = rule === undefined || (branchRules as readonly string[]).includes(rule);
  if (!grows || !usual || !initialRollouts || !Number.isSafeInteger(n)) return preset;
  return { ...preset, initialRollouts: Math.max(1, Math.ceil((n! * initialRollouts) / usual)) };
}
