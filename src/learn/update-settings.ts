import { Random } from "../random/random.js";
import { correctionOf } from "./correction/rollout-correction.js";
import { aggregationRules, lossAggregations, clipBounds } from "./loss/options.js";
import { klKinds } from "./loss/kl.js";
import { lossNameOf, lossNames } from "./loss/registry.js";
import { withPreset } from "./presets.js";
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

type Rule = readonly [must: string, holds: (value: number) => boolean];
const notNegative: Rule = ["a number, 0 or more", (x) => x >= 0 && x < Infinity];
const positive: Rule = ["a number above 0", (x) => x > 0 && x < Infinity];
const share: Rule = ["a number from 0 to 1", (x) => x >= 0 && x <= 1];
const count: Rule = ["a whole number, 1 or more", (x) => Number.isInteger(x) && x >= 1];
const atLeastOne: Rule = ["1 or more", (x) => x >= 1];
const rows: Rule = [
  "a whole number, 1 or more",
  (x) => x >= 1 && (Number.isInteger(x) || x === Infinity),
];

const numbers: Partial<Record<keyof UpdateOptions, Rule>> = {
  learningRate: notNegative,
  weightDecay: notNegative,
  maxNorm: ["above 0", (x) => x > 0],
  miniBatchRows: rows,
  epochs: count,
  maxTokensPerPass: atLeastOne,
  maxRowsPerPass: rows,
  temperature: positive,
  clipRatio: notNegative,
  clipRatioLow: notNegative,
  clipRatioHigh: notNegative,
  clipRatioC: ["above 1", (x) => x > 1],
  paddedLength: positive,
  tauPositive: positive,
  tauNegative: positive,
  clipCovRatio: share,
  clipCovLow: ["a number", (x) => !Number.isNaN(x)],
  clipCovHigh: ["a number", (x) => !Number.isNaN(x)],
  klCovRatio: share,
  klCovCoefficient: notNegative,
  droBeta: positive,
  gppoLow: notNegative,
  gppoHigh: notNegative,
  futureDecay: positive,
  futureClip: notNegative,
  futureWeight: ["a finite number", Number.isFinite],
  futureSafety: positive,
  entropyCoefficient: ["a finite number", Number.isFinite],
  klLossCoefficient: ["a finite number", Number.isFinite],
};

const choices: Partial<Record<keyof UpdateOptions, readonly string[]>> = {
  loss: lossNames,
  aggregation: lossAggregations,
  aggregationRule: aggregationRules,
  klLossKind: klKinds,
};

const switches: readonly (keyof UpdateOptions)[] = [
  "checkpointing",
  "sharedPrefixes",
  "reuseLogProbs",
  "entropyAdvantageNeedsBonus",
  "entropyBalancedClipping",
  "entropyBalancedAdvantage",
  "futureHighOnly",
  "referenceNaN",
];

const shown = (value: unknown) => (typeof value === "string" ? JSON.stringify(value) : `${value}`);

function refuse(name: string, must: string, value: unknown): never {
  const message = `Cannot update: ${name} must be ${must}, got ${shown(value)}`;
  throw typeof value === "number" ? new RangeError(message) : new TypeError(message);
}

function check(settings: UpdateOptions): void {
  const given: Readonly<Record<string, unknown>> = { ...settings };
  for (const [name, [must, holds]] of Object.entries(numbers)) {
    const value = given[name];
    if (value !== undefined && !(typeof value === "number" && holds(value))) {
      refuse(name, must, value);
    }
  }
  for (const [name, known] of Object.entries(choices)) {
    const value = given[name];
    if (value !== undefined && !known.includes(value as string)) {
      refuse(name, `one of ${known.join(", ")}`, value);
    }
  }
  for (const name of switches) {
    const value = given[name];
    if (value !== undefined && typeof value !== "boolean") refuse(name, "true or false", value);
  }
  const { rolloutCorrection: correction } = settings;
  if (!["undefined", "boolean"].includes(typeof correction)) {
    if (typeof correction !== "object" || correction === null) {
      refuse("rolloutCorrection", "true, false or its options", correction);
    }
    correctionOf(correction, []);
  }
  clipBounds(settings);
  if (lossNameOf(settings) === "dro" && settings.droBeta === undefined) {
    refuse("droBeta", "given for the loss dro", undefined);
  }
}

/** Options laid over each other, the later ones on top, and over the defaults; every one is checked. */
export function updateSettings(...options: readonly UpdateOptions[]): UpdateSettings {
  const settings: UpdateOptions = { ...defaults, random: Random.from(0).split("update") };
  for (const given of options.map((one) => withPreset("update", one))) {
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) Object.assign(settings, { [name]: value });
    }
  }
  check(settings);
  return { ...settings, loss: lossNameOf(settings) } as UpdateSettings;
}
