import {
  above,
  checkOptions,
  either,
  fromTo,
  integer,
  integerOrAll,
  notNegative,
  optionsOf,
  type OptionRules,
  positive,
} from "../arguments/check-options.js";
import {
  correctionOf,
  correctionRules,
  type RolloutCorrection,
} from "./correction/rollout-correction.js";
import { Random } from "../random/random.js";
import { clipBounds } from "./loss/options.js";
import { lossRules } from "./loss/loss-rules.js";
import { lossNameOf } from "./loss/registry.js";
import { presetRule, withPreset } from "./presets.js";
import type { UpdateOptions } from "./update-options.js";

const defaults = {
  learningRate: 1e-6,
  weightDecay: 0.01,
  maxNorm: 1,
  epochs: 1,
  maxTokensPerPass: 16_384,
  temperature: 1,
  checkpointing: false,
  sharedPrefixes: false,
  reuseLogProbs: false,
} as const satisfies UpdateOptions;

/** The options of an update with their defaults. */
export type UpdateSettings = UpdateOptions &
  Required<Pick<UpdateOptions, keyof typeof defaults | "loss" | "random">>;

/** What every option of an update may be. */
export const updateRules: OptionRules<UpdateOptions> = {
  ...lossRules,
  preset: presetRule,
  learningRate: notNegative,
  weightDecay: notNegative,
  maxNorm: above(0),
  miniBatchRows: integerOrAll(1),
  epochs: integer(1),
  maxTokensPerPass: fromTo(1, Infinity),
  maxRowsPerPass: integerOrAll(1),
  temperature: positive,
  checkpointing: "boolean?",
  sharedPrefixes: "boolean?",
  reuseLogProbs: "boolean?",
  entropyAdvantageNeedsBonus: "boolean?",
  rolloutCorrection: either("boolean", optionsOf<RolloutCorrection>(correctionRules)),
  random: "random?",
  shuffle: "random?",
  reference: "object?",
};

function checkTogether(settings: UpdateOptions): void {
  if (typeof settings.rolloutCorrection === "object") correctionOf(settings.rolloutCorrection, []);
  clipBounds(settings);
  if (lossNameOf(settings) === "dro" && settings.droBeta === undefined) {
    throw new TypeError("Cannot update: droBeta must be given for the loss dro, got none");
  }
}

/** Options laid over each other, the later ones on top, and over the defaults; every one is checked. */
export function updateSettings(...options: readonly UpdateOptions[]): UpdateSettings {
  const settings: UpdateOptions = { ...defaults, random: Random.from(0).split("update") };
  for (const one of options) {
    checkOptions("update", one, updateRules);
    const given = withPreset("update", one);
    for (const [name, value] of Object.entries(given)) {
      // What a preset says to other functions stays out.
      if (value !== undefined && Object.hasOwn(updateRules, name))
        Object.assign(settings, { [name]: value });
    }
  }
  checkTogether(settings);
  return { ...settings, loss: lossNameOf(settings) } as UpdateSettings;
}
