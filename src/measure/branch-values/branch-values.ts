import { checkArguments } from "../../../common/options/check-arguments.js";
import {
  checkOptions,
  integer,
  listOf,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
import { nearest } from "../../../common/options/nearest.js";
import { sumsByPrompt } from "../entropy/bootstrap.js";
import { isRightScore } from "../../reward/right.js";
import { logged, showAs, type Shown } from "../../base/show/show-as.js";
import { withEnds } from "../../base/text/interval-text.js";
import { MeasuredTrajectory, type SeenTrajectory } from "./measured-trajectory.js";
import { type PlaceRule, type PlaceRuleName, placeRuleNames, placesOf } from "./place-rules.js";
import { estimate, type EstimateOptions, type Interval } from "./resample.js";
import { readValueFile } from "./read-value-file.js";
import { distancesOf, greatestTokens, type TokenSignal, usualSignals } from "./token-signals.js";
import type { ValueRecord, ValueSettings } from "./value-record.js";

/** What branches at a rule's places are worth. */
export interface PlaceWorth extends Interval {
  rule: string;
  /** The same as a ratio to the worth of `against`, from the same resampled prompts. */
  ratio: number | undefined;
  ratioLow: number | undefined;
  ratioHigh: number | undefined;
  /** Of a branch there: variance of its outcome, what its first token decides, tokens and calls that are left. */
  variance: number | undefined;
  decided: number | undefined;
  tokensLeft: number | undefined;
  callsLeft: number | undefined;
  /** Places of a trajectory, on average. */
  places: number;
}

/** How much of what is decided is decided at some tokens. */
export interface DecidedShare extends Interval {
  place: string;
  /** Share of all tokens, and of all entropy. */
  tokens: number | undefined;
  entropy: number | undefined;
}

/** How much of what is decided the greatest values of a signal find. */
export interface Capture extends Interval {
  signal: string;
  /** The share of tokens that is looked at. */
  share: number;
}

/** One distance from the tool result; 0 is the first token after it. */
export interface ProfileDistance {
  distance: number;
  tokens: number;
  entropy: Interval;
  variance: Interval;
  decided: Interval;
}

/** Says of each token whether it belongs to a place. */
export type TokenPlace = (trajectory: SeenTrajectory) => ArrayLike<boolean | number>;

const estimateRules: OptionRules<EstimateOptions> = {
  ...{ draws: integer(0), seed: integer(0) },
  level: {
    ...{ must: "a number between 0 and 1", number: true },
    holds: (x) => typeof x === "number" && x > 0 && x < 1,
  },
};

const outcomes = {
  right: (score: number) => (isRightScore(score) ? 1 : 0),
  score: (score: number) => score,
} as const;

type Rules = readonly PlaceRuleName[] | Readonly<Record<string, PlaceRule | PlaceRuleName>>;

const isName = (name: unknown): name is PlaceRuleName =>
  (placeRuleNames as unknown[]).includes(name);

const share = {
  must: "a number above 0 and at most 1",
  holds: (x: unknown) => typeof x === "number" && x > 0 && x <= 1,
};

/**
 * What a branch would be worth at every token: made by `branchValues`, or read from its file.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { branchValues, BranchValues } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const reward = ({ length }: { length: number }) => Number(length > 20);
 * const values = await branchValues(randomTextPolicy(), [{ prompt: "a" }, { prompt: "b" }], { K: 4, reward });
 * // A rule of one's own is a function: a weight for each token.
 * const [uniform, mine] = values.worth({
 *   uniform: "uniform",
 *   mine: ({ entropies }) => entropies.map((h) => Number(h > 0.5)),
 * });
 * assert.ok(uniform.value! > 0 && mine.rule === "mine");
 * assert.ok(values instanceof BranchValues && values.prompts === 2);
 * ```
 */
export class BranchValues {
  readonly settings: ValueSettings;
  /** What was measured, a record for each prompt. */
  readonly records: readonly ValueRecord[];
  /** `right` (default): a score above 0.5 counts as 1, others as 0. `score`: the score itself. */
  readonly outcome: "right" | "score";
  readonly #measured: MeasuredTrajectory[];
  /** Which prompt each record is of: records of one prompt are resampled together. */
  readonly #prompts: number[];

  /**
   * @param settings what was measured, and how
   * @param records the measured trajectories
   */
  constructor(
    settings: ValueSettings,
    records: readonly ValueRecord[],
    options: Partial<Pick<BranchValues, "outcome">> = {},
  ) {
    checkArguments(
      "make branch values",
      { settings, records },
      { settings: { K: "number" }, records: "list" },
    );
    checkOptions("make branch values", options, { outcome: oneOf(Object.keys(outcomes)) });
    this.settings = settings;
    this.records = records;
    this.outcome = options.outcome ?? "right";
    this.#measured = records.map(
      (record) => new MeasuredTrajectory(record, outcomes[this.outcome]),
    );
    const numbers = new Map<string, number>();
    this.#prompts = records.map(({ task }) => {
      if (!numbers.has(task)) numbers.set(task, numbers.size);
      return numbers.get(task)!;
    });
  }

  /**
   * Reads files that `branchValues` wrote, several as one; files that end in `.gz` are unpacked.
   * @param paths the files to read, one or more
   */
  static async load(...paths: readonly string[]): Promise<BranchValues> {
    const files = await Promise.all(paths.map(readValueFile));
    const [first] = files;
    if (!first) {
      throw new RangeError("Cannot load branch values: there must be a path at least, got none");
    }
    return new BranchValues(
      first.settings,
      files.flatMap(({ records }) => records),
    );
  }

  /** The same measurements with another outcome: the score itself in place of right or wrong. */
  with(options: Pick<BranchValues, "outcome">): BranchValues {
    return new BranchValues(this.settings, this.records, options);
  }

  /** How many prompts were measured. */
  get prompts(): number {
    return new Set(this.#prompts).size;
  }

  /** The trajectories as place rules see them. */
  get trajectories(): readonly SeenTrajectory[] {
    return this.#measured.map(({ seen }) => seen);
  }

  /**
   * What a branch is worth at the places of rules: the variance of its outcome for each token that it
   * draws, for each call that it makes, or for the trajectory that it is. Rules are names, or functions
   * that give each token a weight; without any, all that have names are judged.
   * @param rules branching rules by name
   */
  worth(
    rules: Rules = placeRuleNames,
    options: EstimateOptions & {
      /** What a branch costs: the tokens written, a call, or one each. Default: `token`. */
      per?: "token" | "call" | "trajectory";
      /** The rule that others are compared with. Default: `uniform`. */
      against?: string;
    } = {},
  ): PlaceWorth[] {
    const action = "judge place rules";
    const judged = this.#rules(action, rules);
    checkOptions(action, options, {
      ...estimateRules,
      per: oneOf(["token", "call", "trajectory"]),
      against: oneOf([...new Set([...placeRuleNames, ...judged.map(([name]) => name)])]),
    });
    const { per = "token", against = "uniform", ...how } = options;
    const named = judged.find(([name]) => name === against);
    // Only a name can be missing here.
    const reference = this.#sums(against, named?.[1] ?? (against as PlaceRuleName));
    const cost = { token: 3, call: 4, trajectory: 0 }[per];
    return judged.map(([rule, own]) => {
      const sums = this.#sums(rule, own);
      const size = sums[0]?.length ?? 0;
      const ratioOf = (top: number, bottom: number) => (total: readonly number[]) =>
        divided(total[top]!, total[bottom]!);
      const worth = estimate(sums, ratioOf(1, cost), how);
      const both = sums.map((own, i) => [...own, ...reference[i]!]);
      const ratio = estimate(
        both,
        (total) =>
          divided(divided(total[1]!, total[cost]!), divided(total[size + 1]!, total[size + cost]!)),
        how,
      );
      const total = totalOf(sums);
      return {
        rule,
        ...worth,
        ratio: ratio.value,
        ratioLow: ratio.low,
        ratioHigh: ratio.high,
        variance: divided(total[1], total[0]),
        decided: divided(total[2], total[0]),
        tokensLeft: divided(total[3], total[0]),
        callsLeft: divided(total[4], total[0]),
        places: (total[0] ?? 0) / Math.max(1, this.records.length),
      };
    });
  }

  /**
   * Where outcomes are decided: the share of all decided variance that falls on tokens of a place, beside
   * their share of tokens and of entropy. Without places: distances from a result, blocks, and the tenth of
   * the tokens that is most uncertain.
   * @param places places by name
   */
  decided(
    places?: Readonly<Record<string, TokenPlace>>,
    options: EstimateOptions = {},
  ): DecidedShare[] {
    const action = "say where outcomes are decided";
    checkOptions(action, options, estimateRules);
    checkArguments(action, { places }, { places: "object?" });
    const asked = places ?? this.#usualPlaces();
    return Object.entries(asked).map(([place, holds]) => {
      if (typeof holds !== "function") {
        throw new TypeError(
          `Cannot ${action}: each place must be a function of a trajectory, got ${typeof holds} for ${place}`,
        );
      }
      const sums = this.#sumsOf((one, add) => {
        const inside = holds(one.seen);
        for (let i = 0; i < one.length; i++) {
          const [entropy, decided] = [one.seen.entropies[i]!, one.decided(i)];
          const weight = Number(inside[i] ?? 0);
          add([weight, 1, weight * entropy, entropy, weight * decided, decided]);
        }
      }, 6);
      const total = totalOf(sums);
      return {
        place,
        tokens: divided(total[0], total[1]),
        entropy: divided(total[2], total[3]),
        ...estimate(sums, (t) => divided(t[4], t[5]), options),
      };
    });
  }

  /**
   * How much of what is decided stands at the tokens where a signal is greatest. By chance it is their
   * share. Sums of unbiased estimates: noise widens an interval and never lowers what is found. Without
   * signals: entropy, its mean over the next 20 tokens, nearness to a result, and the group's outcomes.
   * @param signals signals by name
   */
  capture(
    signals: Readonly<Record<string, TokenSignal>> = usualSignals,
    options: EstimateOptions & {
      /** Shares of all tokens that are looked at. Default: 0.05, 0.1, 0.2. */
      shares?: readonly number[];
    } = {},
  ): Capture[] {
    const action = "say what a signal finds";
    checkArguments(action, { signals }, { signals: "object" });
    checkOptions(action, options, {
      ...estimateRules,
      shares: listOf(share, "numbers above 0 and at most 1"),
    });
    const { shares = [0.05, 0.1, 0.2], ...how } = options;
    return Object.entries(signals).flatMap(([signal, of]) => {
      const values = this.#measured.map(({ seen }) => of(seen));
      return shares.map((share) => {
        const chosen = greatestTokens(values, share);
        const sums = this.#sumsOf((one, add, r) => {
          for (let i = 0; i < one.length; i++) {
            const decided = one.decided(i);
            add([chosen[r]![i]! * decided, decided]);
          }
        }, 2);
        const found = estimate(sums, (t) => divided(t[0], t[1]), how);
        return { signal, share, ...found };
      });
    });
  }

  /**
   * What all tokens decide together, less the variance at the prompt: 0 but for noise. Where the interval
   * leaves 0 out, forks do not continue the states that they stand for.
   */
  check(options: EstimateOptions = {}): Interval & { decided: number; variance: number } {
    checkOptions("check branch values", options, estimateRules);
    const sums = this.#sumsOf((one, add) => {
      let decided = 0;
      for (let i = 0; i < one.length; i++) decided += one.decided(i);
      add([decided, one.variance[0] ?? 0, 1]);
    }, 3);
    const total = totalOf(sums);
    const of = (i: number) => (total[i] ?? 0) / Math.max(1, this.records.length);
    return {
      ...estimate(sums, (t) => divided(t[0]! - t[1]!, t[2]), options),
      decided: of(0),
      variance: of(1),
    };
  }

  /** Entropy, outcome variance and decided variance by the distance from a tool result: below 0 before the next one. */
  profile(
    options: EstimateOptions & {
      /** Tokens before the result. Default: 12. */
      before?: number;
      /** Tokens after the result. Default: 20. */
      after?: number;
    } = {},
  ): ProfileDistance[] {
    checkOptions("align on the tool result", options, {
      ...estimateRules,
      before: integer(0),
      after: integer(0),
    });
    const { before = 12, after = 20, ...how } = options;
    const distances = this.#measured.map(({ seen }) => distancesOf(seen));
    return Array.from({ length: before + after + 1 }, (_, k) => k - before).flatMap((distance) => {
      const sums = this.#sumsOf((one, add, r) => {
        for (let i = 0; i < one.length; i++) {
          const { to, since } = distances[r]![i]!;
          if (distance < 0 ? to !== -distance : since !== distance) continue;
          add([1, one.seen.entropies[i]!, one.variance[i]!, one.decided(i)]);
        }
      }, 4);
      const tokens = totalOf(sums)[0] ?? 0;
      if (tokens === 0) return [];
      const of = (i: number): Interval => estimate(sums, (t) => divided(t[i], t[0]), how);
      const [entropy, variance, decided] = [of(1), of(2), of(3)];
      return [{ distance, tokens, entropy, variance, decided }];
    });
  }

  /** A line for a list of values. */
  [Symbol.for("arpo-lab.summary")](): { group: string; text: string } {
    return { group: "Branch values", text: this.#headline() };
  }

  /** What was measured, and what a few rules are worth. */
  toString(): string {
    if (this.records.length === 0) return this.#headline();
    const { decided, variance } = this.check({ draws: 0 });
    const rules = ["fresh", "uniform", "after-results", "entropy", "group-mixed"] as const;
    const rows = this.worth(rules, { draws: 200 });
    return [
      this.#headline(),
      `variance at the prompt ${variance.toFixed(3)}; all tokens decide ${decided.toFixed(3)} (equal but for noise)`,
      "a branch there, per token, to one at a random token:",
      ...rows.map((row) => `  ${row.rule}: ${said(row.ratio, row.ratioLow, row.ratioHigh)}`),
    ].join("\n");
  }

  [Symbol.for("Jupyter.display")](): Shown {
    return showAs("BranchValues", this);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return logged(this);
  }

  #headline(): string {
    const { policy, K } = this.settings;
    const tokens = this.#measured.reduce((sum, { length }) => sum + length, 0);
    const states = this.records.reduce((sum, record) => sum + record.states.length, 0);
    return `BranchValues: ${policy}, ${this.prompts} prompts, ${tokens} tokens in ${states} states, ${K} forks each`;
  }

  /** The rules that are asked for, by name. */
  #rules(action: string, rules: Rules): [string, PlaceRule | PlaceRuleName][] {
    const isList = Array.isArray(rules);
    if (!isList) checkArguments(action, { rules }, { rules: "object" });
    const entries: [string, unknown][] = isList
      ? (rules as unknown[]).map((name) => [String(name), name])
      : Object.entries(rules);
    for (const [name, rule] of entries) {
      if (typeof rule === "function" || isName(rule)) continue;
      const near = typeof rule === "string" ? nearest(rule, placeRuleNames) : undefined;
      throw new RangeError(
        `Cannot ${action}: a rule must be a function or one of ${placeRuleNames.join(", ")}, got ${typeof rule === "string" ? rule : `${typeof rule} for ${name}`}${near === undefined ? "" : `; did you mean ${near}?`}`,
      );
    }
    return entries as [string, PlaceRule | PlaceRuleName][];
  }

  /** Of each prompt: places, and at them variance, decided variance, tokens and calls that are left. */
  #sums(name: string, rule: PlaceRule | PlaceRuleName): number[][] {
    const { weights, variances } = placesOf(name, rule, this.#measured, this.#prompts);
    return this.#sumsOf((one, add, r) => {
      const [own, variance] = [weights[r]!, variances[r]!];
      for (let i = 0; i < one.length; i++) {
        const w = Number(own[i]);
        if (w === 0) continue;
        const decided = one.decided(i);
        add([w, w * variance[i]!, w * decided, w * one.tokensLeft[i]!, w * one.callsLeft[i]!]);
      }
    }, 5);
  }

  #sumsOf(
    visit: (one: MeasuredTrajectory, add: (terms: number[]) => void, record: number) => void,
    width: number,
  ): number[][] {
    const items = this.#measured.map((one, r) => {
      const sums = new Array<number>(width).fill(0);
      visit(one, (terms) => terms.forEach((term, i) => (sums[i]! += term)), r);
      return { prompt: this.records[r]!.task, sums };
    });
    return sumsByPrompt(items, ({ sums }) => sums);
  }

  #usualPlaces(): Record<string, TokenPlace> {
    const blocks = new Set(this.records.flatMap((record) => record.blocks));
    const within =
      (k: number): TokenPlace =>
      ({ sinceResult }) =>
        sinceResult.map((s) => s < k);
    const chosen = greatestTokens(
      this.#measured.map(({ seen }) => seen.entropies),
      0.1,
    );
    const places = new Map(this.#measured.map(({ seen }, r) => [seen, chosen[r]!]));
    return {
      "first token after a result": within(1),
      "first 5 after a result": within(5),
      "first 10 after a result": within(10),
      "first 20 after a result": within(20),
      ...Object.fromEntries(
        [...blocks]
          .sort()
          .map((block): [string, TokenPlace] => [
            block === "" ? "between blocks" : `in <${block}>`,
            (t) => t.blocks.map((own) => own === block),
          ]),
      ),
      "10% most uncertain": (t) => places.get(t)!,
    };
  }
}

function divided(top: number | undefined, bottom: number | undefined): number | undefined {
  if (top === undefined || bottom === undefined || !(Math.abs(bottom) > 1e-12)) return undefined;
  return top / bottom;
}

const totalOf = (sums: readonly (readonly number[])[]): number[] =>
  sums.reduce<number[]>((total, own) => own.map((x, i) => x + (total[i] ?? 0)), []);

function said(value?: number, low?: number, high?: number): string {
  const words = withEnds(value ?? NaN, low ?? NaN, high ?? NaN);
  if (low === undefined || high === undefined) return value?.toFixed(2) ?? "undefined";
  return `${words.value} [${words.low}, ${words.high}]`;
}
