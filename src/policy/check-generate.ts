import {
  checkOptions,
  integer,
  listOf,
  notNegative,
  type OptionRule,
  type OptionRules,
  positive,
  required,
  share,
} from "../../common/options/check-options.js";
import { isRecord } from "../../common/options/is-record.js";
import type { GenerateOptions, Sampling } from "./policy.js";

/** What sampling options may be, wherever they are given. */
export const samplingRules: OptionRules<Sampling> = {
  temperature: notNegative,
  topK: {
    must: "a positive integer, or -1 for all",
    holds: (k) => k === -1 || integer(1).holds(k),
  },
  topP: {
    must: "above 0 and at most 1",
    holds: (p) => share.holds(p) && p !== 0,
  },
  minP: share,
  repetitionPenalty: positive,
  // The policy checks the ids, against its vocabulary: a list of all would be walked at every call.
  allowedIds: "list?",
};

/** What stands where a constraint is wanted. */
export const constraintRule: OptionRule = {
  must: "a constraint (mask, take and fork)",
  holds: (value) =>
    isRecord(value) && ["mask", "take", "fork"].every((name) => typeof value[name] === "function"),
};

const begunWithin = (length: number): OptionRule => ({
  must: `an integer from 0 to the sequence's ${length} tokens`,
  holds: integer(0, length).holds,
});

const rules: OptionRules<Omit<GenerateOptions, "begun">> = {
  ...samplingRules,
  maxTokens: required(integer(1)),
  stop: listOf("text", "texts"),
  random: "random",
  constraint: constraintRule,
  signal: "signal?",
  onToken: "function?",
};

/** Throws where a constraint is given and the policy is elsewhere. */
export function refuseConstraint({ constraint }: Pick<GenerateOptions, "constraint">): void {
  if (constraint === undefined) return;
  throw new TypeError(
    "Cannot generate: a constraint must be held where tokens are sampled, by a policy in this process, got one at an endpoint",
  );
}

/** Throws unless every option of a generate call on a sequence of so many tokens is in range. */
export function checkGenerate(options: GenerateOptions, length: number): void {
  checkOptions("generate", options, { ...rules, begun: begunWithin(length) });
}
