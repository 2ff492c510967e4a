import type { Scored } from "../../../reward/scored.js";
import type { Rows } from "../../advantage/masked.js";
import { at2po } from "../at2po.js";
import {
  Credit,
  type CreditNode,
  type CreditSpan,
  type CreditSum,
  type CreditTree,
  type TreeInput,
} from "../credit.js";
import { giGpo } from "../gigpo.js";
import { mtGrpo } from "../mt-grpo.js";
import type { CreditOptions } from "../options.js";
import { spoTree } from "../spo.js";
import { treeDiff, treeGrpo } from "../tree-grpo.js";
import { treePo } from "../treepo.js";
import { turnBaseline } from "../turn-baseline.js";
import { appoSpans, fr3eSpans, spoChainSpans } from "./branch-credit.js";
import {
  type CreditBatch,
  creditBatch,
  type CreditTrajectory,
  familyOf,
  prefixNames,
  prompts,
} from "./credit-trajectories.js";
import { treeRlSpans } from "./treerl-credit.js";

/** The tree of a prompt, cut into spans of some kind. */
interface PromptTree {
  tree: CreditTree;
  /** Its trajectories, and the leaf each ends at. Repeated trajectories end at the same leaf. */
  trajectories: readonly number[];
  leaves: readonly number[];
  /** The nodes on every trajectory's way, from below the prompt to its leaf. */
  paths: readonly (readonly number[])[];
}

/** Where trajectories are cut. */
type Cuts = (trajectory: number) => readonly number[];

/** The trees of all prompts. Every trajectory has its own leaf, even where its tokens are another's too. */
function promptTrees(
  trajectories: readonly CreditTrajectory[],
  cuts: Cuts,
  entropy?: (trajectory: number, end: number) => number,
): PromptTree[] {
  const name = prefixNames(trajectories);
  return prompts(trajectories).map((own) => {
    const nodes: CreditNode[] = [{ parent: -1, tokens: 0, ...(entropy ? { entropy: 0 } : {}) }];
    const known = new Map<string, number>();
    const leaves: number[] = [];
    const paths = own.map((trajectory) => {
      const { length, reward, scored } = trajectories[trajectory]!;
      const ends = [...cuts(trajectory).filter((end) => end > 0 && end < length), length];
      let parent = 0;
      let start = 0;
      const path = ends.map((end, piece) => {
        const last = piece === ends.length - 1;
        const key = last
          ? `leaf ${name(trajectory, length)} ${scored.trajectory.id}`
          : name(trajectory, end);
        let node = known.get(key);
        if (node === undefined) {
          const made: CreditNode = { parent, tokens: end - start };
          if (last) made.score = reward;
          if (entropy) made.entropy = entropy(trajectory, end);
          node = nodes.push(made) - 1;
          known.set(key, node);
        }
        parent = node;
        start = end;
        return node;
      });
      leaves.push(parent);
      return path;
    });
    return { tree: { nodes }, trajectories: own, leaves, paths };
  });
}

/**
 * Where trajectories may be cut: all lengths at which a trajectory of the prompt left another one, in
 * order.
 */
function leftAt(
  trajectories: readonly CreditTrajectory[],
): (trajectory: number) => readonly number[] {
  const lengths = new Map<string, Set<number>>();
  for (const { shared, group, parent, tree } of trajectories) {
    if (shared === 0 || (parent < 0 && !tree.origin)) continue;
    lengths.set(group, (lengths.get(group) ?? new Set<number>()).add(shared));
  }
  const sorted = new Map(
    [...lengths].map(([group, all]) => [group, [...all].sort((a, b) => a - b)]),
  );
  return (trajectory) => sorted.get(trajectories[trajectory]!.group) ?? [];
}

/** Trajectories cut where they part. A trajectory that was left and is not there itself makes no fork. */
function atForks(trajectories: readonly CreditTrajectory[]): Cuts {
  const name = prefixNames(trajectories);
  const candidates = leftAt(trajectories);
  const ways = new Map<string, Set<string>>();
  const names = trajectories.map(({ length, tree, scored }, trajectory) =>
    candidates(trajectory)
      .filter((at) => at <= length)
      .map((at) => {
        const here = name(trajectory, at);
        const next =
          at < length ? name(trajectory, at + 1) : `${tree.index} ${scored.trajectory.id} ends`;
        ways.set(here, (ways.get(here) ?? new Set<string>()).add(next));
        return { at, here };
      }),
  );
  return (trajectory) =>
    names[trajectory]!.flatMap(({ at, here }) => (ways.get(here)!.size > 1 ? [at] : []));
}

/** Trajectories cut between turns. */
const atTurns =
  (trajectories: readonly CreditTrajectory[]): Cuts =>
  (trajectory) =>
    trajectories[trajectory]!.turns.slice(0, -1).map(({ end }) => end);

/** Trajectories cut between what the policy wrote in one go each. */
const atSegments =
  (trajectories: readonly CreditTrajectory[]): Cuts =>
  (trajectory) =>
    trajectories[trajectory]!.segments.slice(0, -1);

type Spans = readonly CreditSpan[][];

/** Every prompt's tree by itself, its trajectories' spans put in the order of the batch. */
function perPrompt(
  { trajectories, mask }: CreditBatch,
  cuts: Cuts,
  creditOf: (input: TreeInput, trajectories: readonly number[]) => Credit,
  entropy?: (trajectory: number, end: number) => number,
): Spans {
  const out: CreditSpan[][] = trajectories.map(() => []);
  for (const { tree, trajectories: own, leaves } of promptTrees(trajectories, cuts, entropy)) {
    const { spans } = creditOf(
      { tree, leaves, mask: own.map((trajectory) => mask[trajectory]!) },
      own,
    );
    own.forEach((trajectory, i) => (out[trajectory] = [...spans[i]!]));
  }
  return out;
}

function treeGrpoSpans(batch: CreditBatch, options: CreditOptions["treeGrpo"] = {}): Spans {
  const { form, margin, ...rest } = options;
  const { trajectories, rewards, groups } = batch;
  if (form === "tree_diff") {
    return perPrompt(batch, atTurns(trajectories), (input) =>
      treeDiff(input, { margin: margin ?? 0.1 }),
    );
  }
  const family = familyOf(trajectories);
  const mask = trajectories.map(({ scored }) => scored.trajectory.attention);
  const input = {
    rewards,
    mask,
    groups,
    trees: trajectories.map((_, trajectory) => family(trajectory)),
  };
  return treeGrpo(input, { ...rest, ...(form ? { form } : {}) }).spans.map((spans) => [...spans]);
}

/** The mean surprisal, or entropy, of what the policy wrote last in the turn that ends there. */
function turnSignal(
  { tree, turns, scored }: CreditTrajectory,
  end: number,
  signal: string,
): number {
  const turn = turns.find((one) => one.end === end && one.end > one.start);
  const written = turn?.nodes.map((id) => tree.nodes[id]!).filter(({ kind }) => kind === "model");
  const last = written?.at(-1);
  // What one call wrote is in several nodes where a trajectory left it in the middle.
  const nodes = written?.filter(
    ({ trajectory, round }) => trajectory === last!.trajectory && round === last!.round,
  );
  const values = (nodes ?? []).flatMap((node) =>
    signal === "entropy" ? [...node.entropies] : Array.from(node.logprobs, (p) => -p),
  );
  if (values.length === 0) return 0;
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  if (Number.isFinite(mean)) return mean;
  const what = signal === "entropy" ? "entropies" : "log-probabilities";
  throw new TypeError(
    `Cannot use at2po: value "child_softmax" needs the ${what} of what was drawn, got none in trajectory ${scored.trajectory.id} of ${scored.group}; value "child_mean" and "leaf_mean" do without`,
  );
}

function at2poSpans(batch: CreditBatch, options: CreditOptions["at2po"] = {}): Spans {
  const { signal = "surprisal", ...rest } = options;
  const { trajectories } = batch;
  const weighs =
    (rest.value ?? "child_softmax") === "child_softmax" && rest.advantage !== "vanilla";
  return perPrompt(
    batch,
    atTurns(trajectories),
    (input) => at2po(input, rest),
    weighs ? (trajectory, end) => turnSignal(trajectories[trajectory]!, end, signal) : undefined,
  );
}

const spoTreeSpans = (batch: CreditBatch, options: CreditOptions["spoTree"]): Spans =>
  perPrompt(batch, atForks(batch.trajectories), (input) => spoTree(input, options));

function treePoSpans(batch: CreditBatch, options: CreditOptions["treepo"]): Spans {
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
}

/** What each turn of each trajectory earned; trajectories of which nothing is said earned nothing. */
function turnRewards(trajectories: readonly CreditTrajectory[], estimator: string): number[][] {
  if (!trajectories.some(({ scored }) => scored.turnRewards)) {
    throw new TypeError(
      `Cannot use ${estimator}: turns must have rewards, got none; a tool may return one with its result ({ text, ok, reward }), or a reward say them (turns)`,
    );
  }
  return trajectories.map(({ scored, turns }) => [...(scored.turnRewards ?? turns.map(() => 0))]);
}

/** Each turn of a trajectory under its own sum. */
function turnSpans({ turns }: CreditTrajectory, sums: readonly CreditSum[]): CreditSpan[] {
  return turns.flatMap(({ start, end }, i) => (end > start ? [{ start, end, sum: sums[i]! }] : []));
}

function mtGrpoSpans(batch: CreditBatch, options: CreditOptions["mtGrpo"]): CreditSpan[][] {
  const { trajectories, mask, groups } = batch;
  const rewards = turnRewards(trajectories, "mt_grpo");
  const input = {
    ...{ mask, groups },
    turnRewards: rewards.map(([first = 0]) => first),
    outcomes: trajectories.map(({ reward }) => reward),
    hasResult: trajectories.map(({ scored }) => scored.trajectory.written.includes(0)),
  };
  return mtGrpo(input, options).spans.map((spans) => [...spans]);
}

function giGpoSpans(
  { trajectories }: CreditBatch,
  { observe, ...options }: NonNullable<CreditOptions["gigpo"]> = {},
): CreditSpan[][] {
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
}

function turnBaselineSpans(
  { trajectories, groups, mask }: CreditBatch,
  { outcome = true, ...options }: NonNullable<CreditOptions["turnBaseline"]> = {},
): CreditSpan[][] {
  const rewards = turnRewards(trajectories, "turn_baseline");
  if (outcome)
    rewards.forEach(
      (turns, trajectory) => (turns[turns.length - 1]! += trajectories[trajectory]!.reward),
    );
  const name = prefixNames(trajectories);
  // The beginning of a trajectory up to the first token that the policy wrote in a turn.
  const upTo = (trajectory: number, turn: number) => {
    const { start = trajectories[trajectory]!.length, end = start } =
      trajectories[trajectory]!.turns[turn] ?? {};
    let first = start;
    while (first < end && !mask[trajectory]![first]) first++;
    return first < end ? name(trajectory, first + 1) : undefined;
  };
  const names = trajectories.map(({ turns }, trajectory) =>
    turns.map((_, turn) => upTo(trajectory, turn)),
  );
  const sums = turnBaseline(rewards, groups, {
    ...options,
    shared: (trajectory, other, turn) =>
      names[trajectory]![turn] !== undefined && names[trajectory]![turn] === names[other]![turn],
  });
  return trajectories.map((trajectory, i) => turnSpans(trajectory, sums[i]!));
}

/** What all estimators of the family can be told. */
type FamilyOptions = CreditOptions & { normalizeByDeviation?: boolean };

type SpansOf = (batch: CreditBatch, options: FamilyOptions) => readonly (readonly CreditSpan[])[];

/** The estimators of the family after ARPO, by name. */
export const familyEstimators = [
  "tree_grpo",
  "at2po",
  "treerl",
  "appo",
  "treepo",
  "spo_chain",
  "spo_tree",
  "fr3e",
  "mt_grpo",
  "gigpo",
  "turn_baseline",
] as const;
export type FamilyEstimator = (typeof familyEstimators)[number];

const methods: Record<FamilyEstimator, SpansOf> = {
  tree_grpo: (batch, { treeGrpo }) => treeGrpoSpans(batch, treeGrpo),
  at2po: (batch, { at2po }) => at2poSpans(batch, at2po),
  treerl: (batch, { treerl }) => treeRlSpans(batch, treerl),
  appo: (batch, { appo }) => appoSpans(batch, appo),
  treepo: (batch, { treepo }) => treePoSpans(batch, treepo),
  spo_chain: (batch, { spoChain }) => spoChainSpans(batch, spoChain),
  spo_tree: (batch, { spoTree }) => spoTreeSpans(batch, spoTree),
  fr3e: (batch, { fr3e }) => fr3eSpans(batch, fr3e),
  mt_grpo: (batch, { mtGrpo }) => mtGrpoSpans(batch, mtGrpo),
  gigpo: (batch, { gigpo }) => giGpoSpans(batch, gigpo),
  turn_baseline: (batch, { turnBaseline }) => turnBaselineSpans(batch, turnBaseline),
};

/** Whether an estimator is one of the family, and so can say what made an advantage. */
export const isFamilyEstimator = (name: string): name is FamilyEstimator =>
  Object.hasOwn(methods, name);

/** The credit that one of the family's rules gives to scored trajectories. */
export function familyCredit(
  scored: Scored,
  rewards: Rows,
  estimator: FamilyEstimator,
  options: FamilyOptions = {},
): Credit {
  const batch = creditBatch(scored, rewards);
  return new Credit(methods[estimator](batch, options), batch.mask);
}
