import { choice, figure, flag, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { atSegments, promptTrees } from "./adapt/prompt-trees.js";
import { defineEstimator } from "./definition.js";
import { checkOptions, type OptionRules } from "../../../common/options/check-options.js";
import { mean, scores } from "./base/estimator.js";
import { maskedMean, maskedVariance, type Rows } from "../masked.js";
import {
  type CreditSum,
  short,
  Credit,
  type CreditSpan,
  type CreditTerm,
  perGroup,
  populationDeviation,
  overWidth,
  sampleNorm,
} from "./credit.js";

/** All beginnings of a path, from the prompt to the leaf. */
const beginnings = (path: readonly string[]): string[] =>
  path.map((_, i) => path.slice(0, i + 1).join("#"));

/** A trajectory against the means of all groups it is in, its own of one too, weighed by their sizes. */
function leafValues(score: readonly number[], ways: readonly string[][]): number[] {
  const pools = new Map<string, number[]>();
  ways.forEach((way, trajectory) => {
    for (const name of way) pools.set(name, [...(pools.get(name) ?? []), score[trajectory]!]);
  });
  const about = new Map(
    [...pools].map(([name, pool]) => [name, [mean(pool), pool.length] as const]),
  );
  return score.map((reward, trajectory) => {
    let weighted = 0;
    let all = 0;
    for (const name of ways[trajectory]!) {
      const [centre, size] = about.get(name)!;
      weighted += (reward - centre) * size;
      all += size;
    }
    return weighted / all;
  });
}

/** The value of every beginning: a leaf's own, else the mean of its children's; a prompt's is 0. */
function nodeValues(leaf: readonly number[], ways: readonly string[][]): Map<string, number> {
  const values = new Map<string, number>();
  ways.forEach((way, trajectory) => values.set(way.at(-1)!, leaf[trajectory]!));
  const deepest = Math.max(...ways.map((way) => way.length - 1));
  const depth = new Map(ways.flatMap((way) => way.map((name, i) => [name, i] as const)));
  const above = new Map(ways.flatMap((way) => way.map((name, i) => [name, way[i - 1]] as const)));
  for (let d = deepest; d > 1; d--) {
    const own = [...values.keys()].filter((name) => depth.get(name) === d);
    const pools = perGroup(
      own.map((name) => above.get(name)!),
      own.map((name) => values.get(name)!),
    );
    for (const [name, pool] of pools) values.set(String(name), mean(pool));
  }
  return values;
}

/** np.isclose to 0. */
const nothing = 1e-8;

/** Values among siblings over their population deviation; an only child keeps its own. */
function amongSiblings(
  values: Map<string, number>,
  ways: readonly string[][],
): Map<string, number> {
  const above = new Map(
    ways.flatMap((way) => way.slice(1).map((name, i) => [name, way[i]!] as const)),
  );
  const names = [...values.keys()].filter((name) => above.has(name));
  const out = new Map(values);
  for (const siblings of perGroup(
    names.map((name) => above.get(name)!),
    names,
  ).values()) {
    if (siblings.length < 2) continue;
    const own = siblings.map((name) => values.get(name)!);
    const centre = mean(own);
    const width = populationDeviation(own);
    siblings.forEach((name, i) => out.set(name, width <= nothing ? 0 : (own[i]! - centre) / width));
  }
  return out;
}

/** For every trajectory the sums of its segments: what each is worth, less what the one before it is. */
function segmentSums(
  score: readonly number[],
  paths: readonly (readonly string[])[],
  { form, parentDecay = -1 }: { form: "segment" | "spo"; parentDecay?: number },
): CreditSum[][] {
  const ways = paths.map(beginnings);
  const values =
    form === "spo"
      ? amongSiblings(nodeValues(score, ways), ways)
      : nodeValues(leafValues(score, ways), ways);
  for (const way of ways) values.set(way[0]!, 0);
  return ways.map((way) =>
    way.slice(1).map((name, i): CreditSum => {
      const own = values.get(name) ?? 0;
      const parent = values.get(way[i]!) ?? 0;
      const decay =
        form === "segment" && parentDecay > 0 ? parentDecay ** (way.length - (i + 1)) : 1;
      return {
        terms: [
          { name: "worth of the segment", value: own },
          {
            name: "worth of its parent",
            value: -decay * parent,
            ...(decay === 1 ? {} : { from: `-${short(decay)} * ${short(parent)}` }),
          },
        ],
        factors: [],
      };
    }),
  );
}

export const treePoForms = ["tree", "segment", "spo"] as const;

export interface TreePoInput {
  rewards: Rows;
  mask: Rows;
  /**
   * Each trajectory's way from its prompt to its leaf, by names that only trajectories which share them
   * have in common.
   */
  paths: readonly (readonly string[])[];
  /** The tokens of each of those but the prompt, for the forms that give each its own. */
  lengths?: readonly (readonly number[])[];
}

const treePoSettings = {
  /**
   * `tree` (published): a trajectory against its groups at all depths. `segment`: differences between segments.
   * `spo`: the same after SPO, as TreePO compares itself with it.
   */
  form: choice(treePoForms, "tree", "Which of its estimators"),
  /** How the depths are averaged: plainly (the published script) or by their groups' sizes (the paper). */
  weights: choice(["average", "size"], "average", "How depths are averaged"),
  /** Leave out groups below the prompt whose rewards are all equal. Default: false. */
  skipEqual: flag(false, "Leave out groups below the prompt with equal rewards"),
  /** `segment`: what a parent counts falls by this with every segment to the leaf; 0 or less: 1. */
  parentDecay: figure(-1, "segment: what the parent counts; 0 or less: all"),
};

export type TreePoOptions = Partial<ValuesOf<typeof treePoSettings>>;

const treePoRules: OptionRules<TreePoOptions> = { ...rulesOf(treePoSettings) };

const epsilon = 1e-8;

const noSegment: CreditSum = {
  terms: [{ name: "behind the last segment", value: 0 }],
  factors: [],
};

/** Sums whitened over all masked tokens of the batch. */
function whitened(spans: readonly CreditSpan[][], mask: Rows): CreditSpan[][] {
  const raw = new Credit(spans, mask).advantages;
  const centre = maskedMean(raw, mask);
  const width = Math.sqrt(maskedVariance(raw, mask) + epsilon);
  return spans.map((list) =>
    list.map(({ sum: { terms, factors }, ...where }) => ({
      ...where,
      sum: {
        terms: [...terms, { name: "mean of the batch's tokens", value: -centre }],
        factors: [...factors, overWidth("their deviation", width)],
      },
    })),
  );
}

/** What a trajectory's group at one depth says of it. */
interface Depth {
  depth: number;
  size: number;
  reward: number;
  centre: number;
}

function depthsOf(input: TreePoInput, skipEqual: boolean): Depth[][] {
  const { paths } = input;
  const score = scores(input.rewards);
  const found: Depth[][] = score.map(() => []);
  const deepest = Math.max(...paths.map((path) => path.length - 1));
  for (let depth = 0; depth < deepest; depth++) {
    const names = paths.map((path) => path.slice(0, depth + 1).join("#"));
    const pools = perGroup(names, score);
    const norms = new Map([...pools].map(([name, pool]) => [name, sampleNorm(pool)]));
    score.forEach((reward, trajectory) => {
      const size = pools.get(names[trajectory]!)!.length;
      const { centre } = norms.get(names[trajectory]!)!;
      const equal = pools.get(names[trajectory]!)!.every((other) => other === reward);
      if (depth > 0 && (size === 1 || (skipEqual && equal))) return;
      found[trajectory]!.push({ depth, size, reward, centre });
    });
  }
  return found;
}

function treeSums(input: TreePoInput, options: TreePoOptions): CreditSum[] {
  const { weights = "average", skipEqual = false } = options;
  return depthsOf(input, skipEqual).map((depths) => {
    const all = depths.reduce((sum, { size }) => sum + size, 0);
    const terms = depths.map(({ depth, size, reward, centre }): CreditTerm => {
      const weight = weights === "size" ? size / all : 1 / depths.length;
      return {
        name:
          depth === 0
            ? "among the prompt's trajectories"
            : `among the ${size} trajectories at depth ${depth}`,
        value: weight * (reward - centre),
        from: `(${short(reward)} - ${short(centre)}) * ${short(weight)}`,
      };
    });
    return { terms, factors: [] };
  });
}

/**
 * TreePO's credit. In its published form a trajectory gets the mean of its differences to the groups that share
 * the beginning of its way, at every depth, whitened over the batch.
 */
export function treePo(input: TreePoInput, options: TreePoOptions = {}): Credit {
  checkOptions("estimate advantages", options, treePoRules);
  const { form = "tree" } = options;
  const { mask, lengths } = input;
  if (form === "tree") {
    const spans = treeSums(input, options).map((sum, trajectory) => [
      { start: 0, end: mask[trajectory]!.length, sum },
    ]);
    return new Credit(whitened(spans, mask), mask);
  }
  if (!lengths) {
    throw new TypeError(
      `Cannot use treepo: form "${form}" needs the lengths of segments, got none`,
    );
  }
  const sums = segmentSums(scores(input.rewards), input.paths, { ...options, form });
  const spans = sums.map((list, trajectory) => {
    let at = 0;
    const segments = list.map((sum, i): CreditSpan => {
      const start = at;
      at += lengths[trajectory]![i]!;
      return { start, end: at, sum };
    });
    // Tokens behind the last segment get nothing of their own, and are whitened all the same.
    const end = mask[trajectory]!.length;
    return at < end ? [...segments, { start: at, end, sum: noSegment }] : segments;
  });
  return new Credit(form === "spo" ? spans : whitened(spans, mask), mask);
}

export const treePoEstimator = defineEstimator()({
  name: "treepo",
  meaning: "the trajectory against the groups it shares a beginning with",
  formula: "mean over depths of score - mean of the group that shares the prefix; whitened",
  settings: treePoSettings,
  besides: {},
  preset: {
    name: "treepo",
    update: { loss: "vanilla", clipRatioLow: 0.2, clipRatioHigh: 0.28, aggregation: "token-mean" },
  },
  spans(batch, options) {
    const { trajectories, rewards, mask } = batch;
    const paths: string[][] = [];
    const lengths: number[][] = [];
    promptTrees(trajectories, atSegments(trajectories)).forEach(
      ({ tree, trajectories: own, paths: ways }, prompt) => {
        own.forEach((trajectory, i) => {
          const way = ways[i]!;
          // Trajectories that a short tree repeats need names of their own.
          const names = way.map((node, k) =>
            k === way.length - 1 ? `${node} of ${trajectory}` : `${node}`,
          );
          paths[trajectory] = [`prompt ${prompt}`, ...names];
          lengths[trajectory] = way.map((node) => tree.nodes[node]!.tokens);
        });
      },
    );
    return treePo({ rewards, mask, paths, lengths }, options).spans.map((spans) => [...spans]);
  },
});
