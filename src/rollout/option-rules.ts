import {
  either,
  finite,
  integer,
  oneOf,
  optionsOf,
  type OptionRules,
  required,
  share,
} from "../../arguments/check-options.js";
import { truncations } from "../data/fit-prompt.js";
import { samplingRules } from "../policy/check-generate.js";
import { callFormatNames } from "../tools/calls/call-format.js";
import type { Sampling } from "../policy/policy.js";
import { branchRules } from "./branch/branch-rule.js";
import { expansionRules } from "./rules/registry.js";
import { type EntropyOptions, entropyRules } from "./branch/segment-entropy.js";
import type { RolloutCompat, RolloutOptions } from "./options.js";
import { algorithmPresets } from "./presets.js";
import type { DynamicRollouts } from "./settings.js";
import type { PromptLimit } from "./task.js";

const names = oneOf([...branchRules, ...expansionRules]);
/** A name, or a definition, which `defineRule` has checked. */
const named = { ...names, holds: (v: unknown) => names.holds(v) || typeof v === "object" };

/** What every option of a rollout may be. */
export const rolloutRules: OptionRules<RolloutOptions> = {
  preset: oneOf(Object.keys(algorithmPresets)),
  n: integer(1),
  initialRollouts: integer(1),
  beamSize: integer(1),
  attemptsPerTrajectory: integer(0),
  rule: named,
  // The rule says which of them there are: `completeSettings`.
  expand: "object?",
  current: "policy?",
  judge: "function?",
  branchProbability: share,
  entropyWeight: finite,
  threshold: finite,
  penaltySlope: finite,
  penalty: oneOf(["prompt", "path"]),
  entropy: optionsOf<EntropyOptions>(entropyRules),
  entropyTiming: oneOf(["before-result", "after-result"]),
  baseline: oneOf(["own", "ancestor"]),
  dynamicRollouts: either(
    "boolean",
    optionsOf<DynamicRollouts>({
      tokens: integer(1),
      beta: finite,
      formula: oneOf(["code", "paper"]),
      excludeFirst: "boolean?",
    }),
  ),
  promptLimit: optionsOf<PromptLimit>({
    length: required(integer(1)),
    truncation: required(oneOf(truncations)),
  }),
  responseLength: integer(1),
  callLimit: integer(0),
  sampling: optionsOf<Sampling>(samplingRules),
  mode: oneOf(["train", "validate"]),
  validation: optionsOf<Sampling>(samplingRules),
  // `toolSetOf` says what is wrong with them.
  tools: { must: "a list of tools or a ToolSet", holds: () => true },
  environment: "function?",
  calls: either(oneOf(["auto", "tags", ...callFormatNames]), "object"),
  seed: integer(0),
  firstIndex: integer(0),
  scheduling: oneOf(["prompt", "lockstep"]),
  finished: "list?",
  promptsAtOnce: integer(1),
  refillsAhead: "boolean?",
  compat: optionsOf<RolloutCompat>({
    searchPrompt: "boolean?",
    attendPadding: "boolean?",
    keepBaselines: "object?",
    appoAlignment: "boolean?",
    appoMismatch: "boolean?",
    treepoFirstStep: "boolean?",
    resultBegin: integer(0),
  }),
  keepTop: "boolean?",
  draws: "function?",
  signal: "signal?",
  onEvent: "function?",
};
