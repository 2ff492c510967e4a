import * as exact from "../../base/exact/index.js";
import { choice, flag, share, rulesOf, type ValuesOf } from "../../../common/options/setting.js";
import { type CreditTrajectory, prompts } from "./adapt/credit-trajectories.js";
import { leaving } from "./adapt/leaving.js";
import { atForks, perPrompt } from "./adapt/prompt-trees.js";
import { defineEstimator } from "./definition.js";
import {
  checkOptions,
  integer,
  type OptionRules,
  notNegative,
} from "../../../common/options/check-options.js";
import { mean } from "./base/estimator.js";
import type { Rows } from "../masked.js";
import {
  bottomUp,
  childrenOf,
  type CreditTree,
  pathSpans,
  type TreeInput,
  Credit,
  type CreditSpan,
  type CreditSum,
  total,
  overWidth,
  populationDeviation,
} from "./credit.js";

/** A place in a trajectory whose value was estimated by rollouts that start behind it. */
export interface CutPoint {
  /** The last token before it; -1 is the prompt. */
  token: number;
  value: number;
}

export interface SpoChainInput {
  mask: Rows;
  /** The probability of every token when it was drawn. */
  probabilities: Rows;
  outcomes: readonly number[];
  /** Per trajectory, from left to right. */
  cuts: readonly (readonly CutPoint[])[];
}

const spoChainSettings = {
  /** Tokens drawn with a greater probability get nothing. Default: 0.9. */
  threshold: share(0.9, "Tokens drawn with a greater probability get nothing"),
};

export type SpoChainOptions = Partial<ValuesOf<typeof spoChainSettings>>;

const spoChainRules: OptionRules<SpoChainOptions> = { ...rulesOf(spoChainSettings) };

/**
 * Where SPO cuts a trajectory: before every token that was drawn with a probability below the threshold, of
 * these every `interval`-th.
 */
export function spoCutPoints(
  probabilities: ArrayLike<number>,
  options: { interval?: number; threshold?: number } = {},
): number[] {
  checkOptions("cut a trajectory", options, { interval: integer(1), ...spoChainRules });
  const { interval = 5, threshold = 0.9 } = options;
  return Array.from(probabilities, (p, t) => (p < threshold ? t - 1 : NaN))
    .filter((t) => !Number.isNaN(t))
    .filter((_, i) => i % interval === 0);
}

/**
 * SPO's credit for chains: a segment between two cut points gets what its end is worth more than its
 * start; the trajectory's end is worth its reward. Tokens that were all but certain get nothing.
 */
export function spoChain(input: SpoChainInput, options: SpoChainOptions = {}): Credit {
  checkOptions("estimate advantages", options, spoChainRules);
  const { threshold = 0.9 } = options;
  const { mask, probabilities, outcomes, cuts } = input;
  const spans = mask.map((own, trajectory): CreditSpan[] => {
    const [first, ...rest] = cuts[trajectory]!;
    if (!first) return [];
    const ends = [...rest, { token: own.length - 1, value: outcomes[trajectory]! }];
    const sure = (t: number) => probabilities[trajectory]![t]! > threshold;
    let before = first;
    return ends.flatMap((cut, i) => {
      const last = i === rest.length;
      const sum = {
        terms: [
          { name: last ? "reward" : "worth at its end", value: cut.value },
          { name: "worth at its start", value: -before.value },
        ],
        factors: [],
      };
      const span = { start: before.token + 1, end: cut.token + 1, sum };
      before = cut;
      return runs(span, sure).map((run) => (sure(run.start) ? { ...run, sum: certain } : run));
    });
  });
  return new Credit(spans, mask);
}

const certain: CreditSum = { terms: [{ name: "all but certain", value: 0 }], factors: [] };

/** A span cut wherever the answer to a question changes. */
function runs(span: CreditSpan, ask: (token: number) => boolean): CreditSpan[] {
  const found: CreditSpan[] = [];
  for (let start = span.start; start < span.end;) {
    let end = start + 1;
    while (end < span.end && ask(end) === ask(start)) end++;
    found.push({ start, end, sum: span.sum });
    start = end;
  }
  return found;
}

const spoTreeSettings = {
  /** `rloo`: child - parent. `grpo`: that over the deviation of the parent's children. Default `rloo`. */
  form: choice(["rloo", "grpo"], "rloo", "grpo divides by the siblings' deviation"),
  /** Edges that say nothing, neither here nor to the prover, get no credit. Default: true. */
  onlyNonzero: flag(true, "Segments that say nothing get nothing"),
};

export interface SpoTreeOptions extends Partial<ValuesOf<typeof spoTreeSettings>> {
  epsilon?: number;
}

const spoTreeRules: OptionRules<SpoTreeOptions> = {
  ...rulesOf(spoTreeSettings),
  epsilon: notNegative,
};

/** An edge of SPO's tree, from a node to the one above it. */
interface SpoEdge {
  node: number;
  parent: number;
  advantage: number;
  /** How much more likely the best of four is right. */
  prover: number;
  leaf: boolean;
  sum: CreditSum;
}

const best = 4;

/** Every node's value, the mean of its children's. */
export function spoValues(tree: CreditTree): number[] {
  return bottomUp(
    tree,
    (node) => tree.nodes[node]!.score ?? 0,
    (_, __, values) => mean(values),
  );
}

/** The edges of a tree, depth first. */
export function spoEdges(tree: CreditTree, options: SpoTreeOptions = {}): SpoEdge[] {
  const { form = "rloo", onlyNonzero = true, epsilon = 1e-8 } = options;
  const values = spoValues(tree);
  const children = childrenOf(tree);
  const edges: SpoEdge[] = [];
  const open = [...children[0]!].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    open.push(...[...children[node]!].reverse());
    const { parent } = tree.nodes[node]!;
    const [own, above] = [values[node]!, values[parent]!];
    const width = populationDeviation(children[parent]!.map((child) => values[child]!));
    const sum = {
      terms: [
        { name: "worth of the segment", value: own },
        { name: "worth of its parent", value: -above },
      ],
      factors: form === "grpo" ? [overWidth("its siblings' deviation", width + epsilon)] : [],
    };
    const advantage = total(sum);
    const prover = 1 - (1 - own) ** best - (1 - (1 - above) ** best);
    if (onlyNonzero && advantage + prover === 0) continue;
    edges.push({ node, parent, advantage, prover, leaf: children[node]!.length === 0, sum });
  }
  return edges;
}

/** SPO's credit for trees: a segment gets what it is worth more than the segment before it. */
export function spoTree(input: TreeInput, options: SpoTreeOptions = {}): Credit {
  checkOptions("estimate advantages", options, spoTreeRules);
  const sums = new Map(spoEdges(input.tree, options).map(({ node, sum }) => [node, sum]));
  const none: CreditSum = { terms: [{ name: "says nothing", value: 0 }], factors: [] };
  return new Credit(
    input.leaves.map((leaf) => pathSpans(input.tree, leaf, (node) => sums.get(node) ?? none)),
    input.mask,
  );
}

/** The probability of every token when it was drawn; of what nobody drew it is 1. */
function drawnWith({ tree, scored }: CreditTrajectory): Float64Array {
  const { logprobs, nodes, id: trajectory } = scored.trajectory;
  const out = new Float64Array(logprobs.length).fill(1);
  let start = 0;
  for (const id of nodes) {
    const { kind, tokens } = tree.nodes[id]!;
    const end = Math.min(out.length, start + tokens.length);
    for (let t = start; t < end && kind === "model"; t++) {
      if (Number.isNaN(logprobs[t])) {
        throw new TypeError(
          `Cannot use spo_chain: the log-probability of every drawn token must be known, got none at token ${t} of trajectory ${trajectory} of ${scored.group}`,
        );
      }
      out[t] = exact.exp(logprobs[t]!);
    }
    start = end;
  }
  return out;
}

export const spoChainEstimator = defineEstimator()({
  name: "spo_chain",
  meaning: "worth at the end less at the start, initial trajectories",
  formula: "value at the segment's end - value at its start; needs rollouts from cut points",
  settings: spoChainSettings,
  besides: {},
  advice: ({ branches }) =>
    branches
      ? []
      : [
          {
            id: "no-values-on-the-way",
            status: "error",
            found:
              "spo_chain takes values on the way from trajectories that leave it, and no trajectory branches",
            fix: "actor_rollout_ref.rollout.initial_rollouts below n",
          },
        ],
  spans(batch, options) {
    const { trajectories, mask } = batch;
    const cuts = trajectories.map(() => new Map<number, number[]>());
    const add = (trajectory: number, token: number, value: number) => {
      const known = cuts[trajectory]!.get(token) ?? [];
      cuts[trajectory]!.set(token, [...known, value]);
    };
    const left = leaving(trajectories);
    let branches = 0;
    trajectories.forEach((one, trajectory) => {
      if (one.initial) return;
      branches++;
      const { from, shared } = left(trajectory);
      if (shared > 0) add(from, shared - 1, one.reward);
    });
    if (branches === 0) {
      throw new TypeError(
        "Cannot use spo_chain: the values along a trajectory must be estimated by trajectories that leave it, got no branch",
      );
    }
    // Other trajectories that start at the prompt say what it is worth.
    for (const own of prompts(trajectories)) {
      const fresh = own.filter((trajectory) => trajectories[trajectory]!.initial);
      for (const trajectory of fresh) {
        for (const other of fresh)
          if (other !== trajectory) add(trajectory, -1, trajectories[other]!.reward);
      }
    }
    const probabilities = trajectories.map(drawnWith);
    const points = cuts.map((found, trajectory): CutPoint[] =>
      trajectories[trajectory]!.initial
        ? [...found]
            .sort(([a], [b]) => a - b)
            .map(([token, values]) => ({
              token,
              value: values.reduce((sum, v) => sum + v, 0) / values.length,
            }))
        : [],
    );
    const outcomes = trajectories.map(({ reward }) => reward);
    return spoChain({ mask, probabilities, outcomes, cuts: points }, options).spans.map((list) => [
      ...list,
    ]);
  },
});

export const spoTreeEstimator = defineEstimator<{ epsilon?: number }>()({
  name: "spo_tree",
  meaning: "worth of the segment less its parent's",
  formula: "value of the segment - value of its parent",
  settings: spoTreeSettings,
  besides: { epsilon: notNegative },
  preset: { name: "spo-tree" },
  spans: (batch, options) =>
    perPrompt(batch, atForks(batch.trajectories), (input) => spoTree(input, options)),
});
