import { greatest } from "../../rollout/branch/family/greatest.js";
import { type BranchSettings, decideBranch } from "../../rollout/rules/decide-branch.js";
import type { RuleDefinition } from "../../rollout/rules/definition.js";
import { ruleDefinitions } from "../../rollout/rules/registry.js";
import {
  groupMixed,
  type MeasuredTrajectory,
  type SeenTrajectory,
  windowMeans,
} from "./measured-trajectory.js";
import { criticOf } from "./critic.js";

/** Helpers for place rules. */
export interface PlaceTools {
  /** Weight 1 at the places of the `count` greatest values. Default 1. */
  top(values: ArrayLike<number>, count?: number): Float64Array;
  /**
   * The chance of a branch right after each tool result under a rule that compares segments. `entropyTiming`: whether
   * the segment before the result counts (the codes), or the one behind it (the papers).
   */
  decide(
    settings: Partial<BranchSettings> & { entropyTiming?: "before-result" | "after-result" },
  ): Float64Array;
}

/**
 * Where a rule would branch in a trajectory: a weight for each drawn token, which is drawn anew. Weights are
 * how often; 0 is never.
 */
export type PlaceRule = (trajectory: SeenTrajectory, tools: PlaceTools) => ArrayLike<number>;

/** A rule with what it may look at besides. */
interface OwnRule {
  weights: (measured: MeasuredTrajectory, context: RuleContext) => ArrayLike<number>;
  /** What its places are judged by, where they were chosen by forks. */
  judged?: (measured: MeasuredTrajectory) => Float64Array;
}

interface RuleContext {
  tools: PlaceTools;
  /** The expected variance at each token by a critic that was fitted on other prompts. */
  critic: () => Float64Array;
}

/** What a token costs besides those that are left, so that the last tokens are not all that counts. */
const start = 5;

const results = (t: SeenTrajectory): number[] =>
  t.sinceResult.flatMap((since, i) => (since === 0 ? [i] : []));

function at(t: SeenTrajectory, places: readonly number[]): Float64Array {
  const weights = new Float64Array(t.texts.length);
  for (const place of places) if (place < weights.length) weights[place]!++;
  return weights;
}

const rise = (t: SeenTrajectory, i: number) =>
  t.segmentEntropies[t.segment[i]!]! - t.segmentEntropies[0]!;

function decided(
  t: SeenTrajectory,
  { entropyTiming = "before-result", ...given }: Parameters<PlaceTools["decide"]>[0],
): Float64Array {
  const settings: BranchSettings = {
    ...{ rule: "arpo-code", probability: 0.5, weight: 0.2, threshold: 0.5, penaltySlope: 0.05 },
    ...given,
  };
  const weights = new Float64Array(t.texts.length);
  for (const i of results(t)) {
    const segment = t.segment[i]! - (entropyTiming === "before-result" ? 1 : 0);
    const entropy = t.segmentEntropies[segment]!;
    const situation = { u: 0, entropy, baseline: t.segmentEntropies[0]!, consecutive: 0 };
    weights[i] = decideBranch(settings, situation).probability;
  }
  return weights;
}

/** The place behind a token. */
const behind = (t: SeenTrajectory, token: number | undefined) =>
  at(t, token === undefined ? [] : [token + 1]);

const perToken = (values: ArrayLike<number>, left: ArrayLike<number>) =>
  Array.from(values, (value, i) => value / (left[i]! + start));

/** The place tools for one trajectory. */
const toolsFor = (t: SeenTrajectory): PlaceTools => ({
  top: (values, count = 1) => at(t, greatest(values, count)),
  decide: (settings) => decided(t, settings),
});

const plain = (rule: PlaceRule): OwnRule => ({
  weights: ({ seen }, { tools }) => rule(seen, tools),
});

/** A rule of the library that says which token it would continue after first. */
type RuleAlone = Extract<(typeof ruleDefinitions)[number], { firstAfter: object }>["name"];

const rulesAlone = Object.fromEntries(
  (ruleDefinitions as readonly RuleDefinition[]).flatMap((rule) =>
    rule.firstAfter ? [[rule.name, plain((t) => behind(t, rule.firstAfter!(t)))]] : [],
  ),
) as Record<RuleAlone, OwnRule>;

const byName = <Name extends string>(rules: Record<Name, OwnRule>): Record<Name, OwnRule> => rules;

/** The rules that have names. Each chooses among the drawn tokens of one trajectory. */
const named = byName({
  /** Before the first token: a new trajectory. */
  fresh: plain((t) => at(t, [0])),
  uniform: plain((t) => t.texts.map(() => 1)),
  "after-results": plain((t) => at(t, results(t))),
  "arpo-code": plain((_, { decide }) => decide({ rule: "arpo-code" })),
  "arpo-paper": plain((_, { decide }) =>
    decide({ rule: "arpo-paper", entropyTiming: "after-result" }),
  ),
  "aepo-code": plain((_, { decide }) => decide({ rule: "aepo-code" })),
  "aepo-paper": plain((_, { decide }) =>
    decide({ rule: "aepo-paper", entropyTiming: "after-result" }),
  ),
  /** The one result behind which entropy rose most. */
  "top-rise": plain((t) => {
    const places = results(t);
    const [best] = greatest(
      places.map((i) => rise(t, i)),
      1,
    );
    return at(t, best === undefined ? [] : [places[best]!]);
  }),
  entropy: plain((t, { top }) => top(t.entropies)),
  "entropy-2": plain((t, { top }) => top(t.entropies, 2)),
  /** Behind the most uncertain token instead of before it. */
  "after-entropy": plain((t) =>
    at(
      t,
      greatest(t.entropies, 1).map((i) => i + 1),
    ),
  ),
  "entropy-window": plain((t, { top }) => top(windowMeans(t.entropies, 20))),
  ...rulesAlone,
  "group-mixed": plain((t, { top }) => {
    const mixed = groupMixed(t);
    const variances = mixed.map(({ shared, variance }) => (shared < 2 ? 0 : variance));
    return top(perToken(variances, t.left));
  }),
  critic: { weights: (_, { tools, critic }) => tools.top(critic()) },
  "critic-per-token": {
    weights: ({ seen }, { tools, critic }) => tools.top(perToken(critic(), seen.left)),
  },
  /** Chooses by one half of the forks and is judged by the other. */
  oracle: {
    weights: ({ halves }, { tools }) => tools.top(halves[0]),
    judged: ({ halves }) => halves[1],
  },
  "oracle-per-token": {
    weights: ({ halves, tokensLeft }, { tools }) => tools.top(perToken(halves[0], tokensLeft)),
    judged: ({ halves }) => halves[1],
  },
});

/** A place rule that has a name. */
export type PlaceRuleName = keyof typeof named;

export const placeRuleNames = Object.keys(named) as PlaceRuleName[];

/** Where a rule branches in each trajectory, and the variance that its places are judged by. */
export interface RulePlaces {
  weights: ArrayLike<number>[];
  variances: Float64Array[];
}

/** Asks a rule of all trajectories; `prompts` numbers the prompt of each. */
export function placesOf(
  name: string,
  rule: PlaceRule | PlaceRuleName,
  measured: readonly MeasuredTrajectory[],
  prompts: readonly number[],
): RulePlaces {
  const own: OwnRule = typeof rule === "function" ? plain(rule) : named[rule];
  const weights = measured.map((one, i) => {
    const found = own.weights(one, {
      tools: toolsFor(one.seen),
      critic: () => criticOf(measured, prompts)[i]!,
    });
    checkWeights(name, found, one.length);
    return found;
  });
  return { weights, variances: measured.map(own.judged ?? ((one) => one.variance)) };
}

function checkWeights(name: string, weights: ArrayLike<number>, length: number): void {
  const isList = Array.isArray(weights) || ArrayBuffer.isView(weights);
  if (!isList || weights.length !== length) {
    throw new RangeError(
      `Cannot judge place rule ${name}: it must give a weight for each of the trajectory's ${length} tokens, got ${isList ? weights.length : typeof weights}`,
    );
  }
  for (let i = 0; i < length; i++) {
    const weight = Number(weights[i]);
    if (weight >= 0 && weight < Infinity) continue;
    throw new RangeError(
      `Cannot judge place rule ${name}: weights must be finite numbers of at least 0, got ${String(weights[i])}`,
    );
  }
}
