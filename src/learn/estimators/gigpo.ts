import {
  aboveOrNone,
  choice,
  flag,
  share,
  weight,
  rulesOf,
  type ValuesOf,
} from "../../../common/options/setting.js";
import type { ScoredTrajectory } from "../../reward/scored.js";
import { turnSpans } from "./adapt/prompt-trees.js";
import { defineEstimator } from "./definition.js";
import {
  checkOptions,
  finite,
  notNegative,
  type OptionRules,
} from "../../../common/options/check-options.js";
import {
  type CreditSum,
  type CreditTerm,
  short,
  type Norm,
  normTerm,
  perGroup,
  sampleNorm,
} from "./credit.js";

/** How many places of a text each letter stands at; letters of long texts that are everywhere are left out. */
function placesOf(text: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  text.forEach((letter, i) => {
    const list = places.get(letter);
    if (list) list.push(i);
    else places.set(letter, [i]);
  });
  if (text.length >= 200) {
    const most = Math.floor(text.length / 100) + 1;
    for (const [letter, list] of places) if (list.length > most) places.delete(letter);
  }
  return places;
}

/** A span that two texts have in common. */
interface Match {
  a: number;
  b: number;
  size: number;
}

/**
 * How alike two texts are: twice the letters that match in order over all letters, by Python's
 * `difflib.SequenceMatcher(None, a, b).ratio()`, its leaving out of popular letters included.
 */
export function similarity(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  if (a.length + b.length === 0) return 1;
  const places = placesOf(b);

  const longest = (alo: number, ahi: number, blo: number, bhi: number): Match => {
    let best: Match = { a: alo, b: blo, size: 0 };
    let lengths = new Map<number, number>();
    for (let i = alo; i < ahi; i++) {
      const next = new Map<number, number>();
      for (const j of places.get(a[i]!) ?? []) {
        if (j < blo) continue;
        if (j >= bhi) break;
        const size = (lengths.get(j - 1) ?? 0) + 1;
        next.set(j, size);
        if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
      }
      lengths = next;
    }
    // Letters that were left out may still widen what was found.
    while (best.a > alo && best.b > blo && a[best.a - 1] === b[best.b - 1]) {
      best = { a: best.a - 1, b: best.b - 1, size: best.size + 1 };
    }
    while (
      best.a + best.size < ahi &&
      best.b + best.size < bhi &&
      a[best.a + best.size] === b[best.b + best.size]
    ) {
      best = { ...best, size: best.size + 1 };
    }
    return best;
  };

  let matched = 0;
  const open: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let part = open.pop(); part; part = open.pop()) {
    const [alo, ahi, blo, bhi] = part;
    const found = longest(alo, ahi, blo, bhi);
    if (found.size === 0) continue;
    matched += found.size;
    open.push([alo, found.a, blo, found.b]);
    open.push([found.a + found.size, ahi, found.b + found.size, bhi]);
  }
  return (2 * matched) / (a.length + b.length);
}

/** One entry per step of every trajectory, in their order. */
export interface GiGpoInput {
  /** The whole episode's reward, at every step of it. */
  episodeRewards: readonly number[];
  stepRewards: readonly number[];
  groups: readonly (string | number)[];
  trajectories: readonly (string | number)[];
  /** What the policy saw before it acted; a text, or plain data. */
  anchors: readonly unknown[];
}

const giGpoSettings = {
  /** Discount of the steps' rewards. Default: 1. */
  gamma: share(1, "Discount of the steps' rewards", notNegative),
  /** What a step's advantage counts beside the episode's. Default: 1. */
  stepWeight: weight(1, "What the step's advantage counts", finite),
  /** Over the deviation too (`mean_std_norm`). Default: false (`mean_norm`). */
  normalizeByDeviation: flag(false, "Divide by the group's deviation"),
  /**
   * What the episode's baseline is a mean of: `step`, as published, in which a trajectory counts once for
   * every step it has, or `trajectory`.
   */
  episodeBaseline: choice(
    ["step", "trajectory"],
    "step",
    "step: long trajectories count once for each of their steps",
  ),
  /** Observations at least this alike are one. Default: only equal ones. */
  similarity: aboveOrNone(0, 1, "Observations at least this alike are one; null: equal ones"),
};

export interface GiGpoOptions extends Partial<ValuesOf<typeof giGpoSettings>> {
  epsilon?: number;
}

const giGpoRules: OptionRules<GiGpoOptions> = { ...rulesOf(giGpoSettings), epsilon: notNegative };

export interface GiGpoSteps {
  /** What made each step's advantage. */
  sums: CreditSum[];
  /** What is still to come from each step on. */
  returns: number[];
  /** Which steps share an observation: numbered as they are first seen. */
  anchors: number[];
  episode: number[];
  step: number[];
}

/** A value by its content: lists flattened, fields in alphabetical order. */
function contentOf(value: unknown): string {
  if (ArrayBuffer.isView(value)) return contentOf(Array.from(value as Uint8Array));
  if (Array.isArray(value)) return `[${value.flat(Infinity).map(contentOf).join()}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, v]) => `${name}:${contentOf(v)}`).join()}}`;
  }
  return JSON.stringify(value) ?? "undefined";
}

/** The number of each step's anchor group. */
function anchorGroups({ anchors, groups }: GiGpoInput, threshold: number | undefined): number[] {
  let groupCount = 0;
  const known = new Map<string | number, { first: string; group: number }[]>();
  return anchors.map((anchor, i) => {
    const clusters = known.get(groups[i]!) ?? [];
    known.set(groups[i]!, clusters);
    const text = threshold !== undefined && typeof anchor === "string" ? anchor : contentOf(anchor);
    const found = clusters.find(({ first }) =>
      threshold === undefined ? first === text : similarity(text, first) >= threshold,
    );
    if (found) return found.group;
    clusters.push({ first: text, group: groupCount });
    return groupCount++;
  });
}

/** Rewards still to come, each trajectory for itself. */
function returnsOf({ stepRewards, trajectories, groups }: GiGpoInput, gamma: number): number[] {
  const running = new Map<string, number>();
  const out: number[] = [];
  for (let i = stepRewards.length - 1; i >= 0; i--) {
    const key = JSON.stringify([groups[i], trajectories[i]]);
    out[i] = stepRewards[i]! + gamma * (running.get(key) ?? 0);
    running.set(key, out[i]!);
  }
  return out;
}

/** Episode norms per prompt, over steps or over trajectories. */
function episodeNorms(input: GiGpoInput, over: "step" | "trajectory"): Map<string | number, Norm> {
  const { groups, trajectories, episodeRewards } = input;
  const seen = new Set<string>();
  const kept = groups.flatMap((group, i) => {
    const key = JSON.stringify([group, trajectories[i]]);
    if (over === "trajectory" && seen.has(key)) return [];
    seen.add(key);
    return [i];
  });
  const pools = perGroup(
    kept.map((i) => groups[i]!),
    kept.map((i) => episodeRewards[i]!),
  );
  return new Map([...pools].map(([group, pool]) => [group, sampleNorm(pool)]));
}

/**
 * GiGPO's credit: the whole episode against those of its prompt, plus each step against the steps that
 * began at the same observation.
 */
export function giGpo(input: GiGpoInput, options: GiGpoOptions = {}): GiGpoSteps {
  checkOptions("estimate advantages", options, giGpoRules);
  const { gamma = 1, stepWeight = 1, normalizeByDeviation = false, epsilon = 1e-6 } = options;
  const { groups, episodeRewards } = input;
  const returns = returnsOf(input, gamma);
  const anchors = anchorGroups(input, options.similarity);
  const norms = episodeNorms(input, options.episodeBaseline ?? "step");
  const pools = perGroup(anchors, returns);
  const against = (name: string, value: number, norm: Norm): CreditTerm =>
    normalizeByDeviation
      ? normTerm(name, value, norm, epsilon)
      : { name, value: value - norm.centre, from: `${short(value)} - ${short(norm.centre)}` };
  const episode = groups.map((group, i) =>
    against("the episode", episodeRewards[i]!, norms.get(group)!),
  );
  const step = returns.map((value, i): CreditTerm => {
    const pool = pools.get(anchors[i]!)!;
    const name = "the step";
    if (pool.length === 1) return { name, value: 0, from: "nobody else saw this" };
    return against(`${name}, among ${pool.length} from here`, value, sampleNorm(pool));
  });
  return {
    sums: episode.map((term, i) => ({
      terms: [term, { ...step[i]!, value: stepWeight * step[i]!.value }],
      factors: [],
    })),
    ...{ returns, anchors },
    episode: episode.map(({ value }) => value),
    step: step.map(({ value }) => value),
  };
}

export const giGpoEstimator = defineEstimator<{
  epsilon?: number;
  /** What the policy saw before a turn. Default: the tool's answer it begins with. */
  observe?: (trajectory: ScoredTrajectory, turn: number) => unknown;
}>()({
  name: "gigpo",
  meaning: "the episode, plus the step among those from there",
  formula: "episode advantage + advantage among steps with the same observation",
  settings: giGpoSettings,
  besides: { epsilon: notNegative, observe: "function?" },
  spans({ trajectories }, { observe, ...options }) {
    const steps = trajectories.flatMap((one, trajectory) => {
      const earned = one.scored.turnRewards ?? [];
      const whole = one.reward + earned.reduce((sum, r) => sum + r, 0);
      return one.turns.map((turn, i) => ({
        trajectory,
        group: one.group,
        whole,
        // The outcome comes with the last step, as an environment's does.
        reward: (earned[i] ?? 0) + (i === one.turns.length - 1 ? one.reward : 0),
        anchor: observe ? observe(one.scored, i) : (turn.result?.text ?? ""),
      }));
    });
    const { sums } = giGpo(
      {
        episodeRewards: steps.map(({ whole }) => whole),
        stepRewards: steps.map(({ reward }) => reward),
        groups: steps.map(({ group }) => group),
        trajectories: steps.map(({ trajectory }) => trajectory),
        anchors: steps.map(({ anchor }) => anchor),
      },
      options,
    );
    let at = 0;
    return trajectories.map((trajectory) =>
      turnSpans(trajectory, sums.slice(at, (at += trajectory.turns.length))),
    );
  },
});
