import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  finite,
  type OptionRules,
  valuesOf,
} from "../../../common/options/check-options.js";
import { choice, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { maskedMean, maskedVariance, type Rows } from "../masked.js";
import { spread } from "./base/estimator.js";
import {
  Credit,
  type CreditSum,
  type CreditTerm,
  normTerm,
  overWidth,
  perGroup,
  sampleNorm,
  short,
  total,
  wholeTrajectory,
} from "./credit.js";
import { defineEstimator } from "./definition.js";

export interface GdpoInput {
  /** The parts of each trajectory's score, by name. */
  parts: Readonly<Record<string, readonly number[]>>;
  mask: Rows;
  groups: readonly (string | number)[];
}

const gdpoSettings = {
  /**
   * What the sum of the parts is normalised over: the batch's `trajectories` (TRL) or its `tokens`, where long
   * trajectories count for more (verl). Default: `trajectories`.
   */
  over: choice(
    ["trajectories", "tokens"],
    "trajectories",
    "What the sum of the parts is normalised over",
  ),
};

export interface GdpoOptions extends Partial<ValuesOf<typeof gdpoSettings>> {
  /** What a part counts, by its name. Default: 1. */
  weights?: Readonly<Record<string, number>>;
}

const gdpoRules: OptionRules<GdpoOptions> = {
  ...rulesOf(gdpoSettings),
  weights: valuesOf<Readonly<Record<string, number>>>("object?"),
};

/** What is added to deviations: of the groups, and of the batch; verl adds the second to the variance. */
const epsilons = { trajectories: 1e-4, tokens: 1e-6 };

/** Every part within its group, on its own. Alone in its group a trajectory gets 0, in verl's form the part itself. */
function partTerms(input: GdpoInput, { over: form = "trajectories", weights = {} }: GdpoOptions) {
  const { parts, groups } = input;
  const unknown = Object.keys(weights).find((name) => !Object.hasOwn(parts, name));
  if (unknown !== undefined) {
    throw new RangeError(
      `Cannot estimate advantages: weights must name parts of the score, ${Object.keys(parts).join(", ")}, got ${unknown}`,
    );
  }
  const named = Object.entries(parts).map(([name, values]) => {
    const pools = perGroup(groups, values);
    const weight = weights[name] ?? 1;
    if (!finite.holds(weight)) {
      throw new RangeError(
        `Cannot estimate advantages: weights must be finite numbers, got ${String(weight)} for ${name}`,
      );
    }
    return values.map((value, i): CreditTerm => {
      const pool = pools.get(groups[i]!)!;
      if (pool.length === 1 && form === "trajectories") return { name, value: 0, from: "alone" };
      const term = normTerm(name, value, sampleNorm(pool), epsilons[form]);
      return { ...term, value: weight * term.value, from: `${term.from} * ${short(weight)}` };
    });
  });
  return groups.map((_, i) => named.map((terms) => terms[i]!));
}

/**
 * GDPO's credit: every part of the score is normalised within its group on its own, so that a part of small spread
 * counts as much as one of large spread; their weighted sum is normalised over the batch.
 */
export function gdpo(input: GdpoInput, options: GdpoOptions = {}): Credit {
  checkArguments(
    "estimate advantages",
    { input },
    { input: { parts: "object", mask: "list", groups: "list" } },
  );
  checkOptions("estimate advantages", options, gdpoRules);
  const { over: form = "trajectories" } = options;
  const { mask } = input;
  const terms = partTerms(input, options);
  const sums = terms.map((list) => total({ terms: list, factors: [] }));
  const norm = () => {
    if (form === "trajectories") {
      const { centre, width } = sampleNorm(sums);
      return { centre, width: width + epsilons.trajectories };
    }
    const values = spread(sums, mask);
    return {
      centre: maskedMean(values, mask),
      width: Math.sqrt(maskedVariance(values, mask) + 1e-8),
    };
  };
  const { centre, width } = norm();
  return new Credit(
    terms.map((list, trajectory) => {
      const sum: CreditSum = {
        terms: [...list, { name: "mean of the batch", value: -centre }],
        factors: [overWidth("the batch's deviation", width)],
      };
      return wholeTrajectory(mask, trajectory, sum);
    }),
    mask,
  );
}

export const gdpoEstimator = defineEstimator<Pick<GdpoOptions, "weights">>()({
  name: "gdpo",
  meaning: "every part of the score against the prompt's trajectories, on its own",
  formula:
    "sum over the score's parts of (part - group mean) / group deviation, normalised over the batch",
  settings: gdpoSettings,
  besides: { weights: gdpoRules.weights },
  spans({ trajectories, mask, groups }, options) {
    const [first, ...others] = trajectories.map(({ scored }) => scored.score.parts ?? {});
    const names = Object.keys(first ?? {});
    const missing = others.findIndex((one) => names.some((name) => one[name] === undefined));
    if (names.length === 0 || missing >= 0) {
      const { trajectory, group } = trajectories[missing + 1]!.scored;
      throw new TypeError(
        `Cannot use gdpo: every score must have the same parts ({ score, parts: { accuracy, format } }), got ${names.length === 0 ? "none" : `not all of ${names.join(", ")}`} for trajectory ${trajectory.id} of ${group}`,
      );
    }
    const parts = Object.fromEntries(
      names.map((name) => [name, trajectories.map(({ scored }) => scored.score.parts![name]!)]),
    );
    return gdpo({ parts, mask, groups }, options).spans;
  },
});
