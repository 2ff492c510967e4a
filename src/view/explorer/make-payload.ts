import { fromTo, type OptionRules } from "../../../common/options/check-options.js";
import type { BatchSequence, TrainingBatch } from "../../learn/batch.js";
import { teacherGaps } from "../../learn/distillation/teacher-gaps.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { defined } from "../../../common/options/defined.js";
import { areRight, type RightRule } from "../../reward/right.js";
import { ruleOf } from "../../reward/right-in.js";
import type { Score } from "../../reward/score.js";
import type { Scored } from "../../reward/scored.js";
import type { RuleDefinition } from "../../rollout/rules/definition.js";
import { published } from "../../rollout/rules/settings.js";
import {
  type ExpansionSettings,
  ruleNamed,
  rules,
  writtenRules,
} from "../../rollout/rules/registry.js";
import { type ExpansionPlan, planExpansion } from "../../rollout/replay/plan-expansion.js";
import { planReplay } from "../../rollout/replay/plan.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { RolloutRule } from "../../rollout/options.js";
import { expansionOf } from "../../rollout/settings.js";
import { packIntegers, packNumbers, packVocabulary } from "../page/pack.js";
import { many } from "../page/words.js";
import { type OverOptions, overRules } from "./over-options.js";
import {
  type ExplorerPayload,
  type PackedExpansions,
  type PackedPlan,
  type PageNode,
  type PageTrajectory,
  ruleName,
  type Verdict,
} from "./payload.js";

/** Places of all trajectories together that the page carries for a rule. */
const places = 1024;

/**
 * What every rule that looks at what was written may choose in a tree: by the tree's own settings, or the
 * published ones. Rules that need what the tree does not carry are left out.
 */
function expansionPlans(tree: RolloutTree, tokenizer: Tokenizer | undefined): PackedExpansions {
  const most = Math.max(
    4,
    Math.min(16, Math.floor(places / Math.max(1, tree.trajectories.length))),
  );
  const packed: PackedExpansions = { trajectories: [], most, plans: {} };
  const own = expansionOf(tree.config);
  for (const rule of writtenRules()) {
    const { spendsBudget } = ruleNamed(rule);
    const settings = (own?.rule === rule ? own : published(ruleNamed(rule))) as ExpansionSettings;
    try {
      const plan = planExpansion(tree, settings, {
        tokenizer,
        ...(spendsBudget ? {} : { most: Math.max(most, mostOf(settings)) }),
      });
      packed.trajectories = plan.chains.map(
        ({ id, parent, tree: root, start, split, length, kind }) => {
          return [id, parent, root, start, split, length, kind === "initial" ? 1 : 0];
        },
      );
      packed.plans[rule] = pack(spendsBudget ? withinBudget(plan, spendsBudget) : plan);
    } catch (error) {
      // Some trees carry no numbers, some no texts; every other error is one.
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return packed;
}

/** The plan with the places alone that the budget reaches. */
function withinBudget(
  plan: ExpansionPlan,
  inOrder: NonNullable<RuleDefinition["spendsBudget"]>,
): ExpansionPlan {
  const { chains, n } = plan;
  const first = chains.filter(({ kind }) => kind === "initial");
  const all = first.flatMap(({ id, places: own }) =>
    own.map((place) => ({ ...place, trajectory: id, strict: place.strict ?? false, place })),
  );
  const order = inOrder(all);
  const kept = new Set(order.slice(0, Math.max(0, n - first.length)).map(({ place }) => place));
  return {
    ...plan,
    chains: chains.map((chain) => ({
      ...chain,
      places: chain.places.filter((place) => kept.has(place)),
    })),
  };
}

const mostOf = (settings: ExpansionSettings) => ("points" in settings ? settings.points : 0);

function pack({ chains, ...rest }: ExpansionPlan): PackedPlan {
  return {
    ...rest,
    places: chains.map(({ places: own }) =>
      own.flatMap(({ at, token, place, score, strict }) => [
        at,
        token,
        place,
        score,
        strict ? 1 : 0,
      ]),
    ),
    counts: chains.map(({ count }) => count),
    turns: chains.map(({ turns }) =>
      turns.flatMap(({ start, end, signal }) => [start, end, signal]),
    ),
  };
}

export interface ExploreOptions {
  /**
   * Scores of the tree's trajectories: colours by reward and tells each trajectory's reason.
   * Default: none.
   */
  scored?: Scored;
  /** Advantages of the tree's tokens: colours by advantage, after an update with a teacher by its gap too. Default: none. */
  batch?: TrainingBatch;
  /** For trees from files, whose tokens are otherwise shown as numbers. Default: the tree's own. */
  tokenizer?: Tokenizer;
  /**
   * What stands above the view. Default: the trajectories, branches and tokens, the rule and the
   * seed.
   */
  title?: string;
  /** Bytes that alternatives of tokens may take before being packed (default 1,600,000). */
  alternativeBytes?: number;
}

/** The same over a run: the tree under each of its checkpoints. */
export interface ExploreOverOptions extends ExploreOptions, OverOptions {}

export const exploreRules: OptionRules<ExploreOptions & Partial<OverOptions>> = {
  ...overRules,
  scored: "object?",
  batch: "object?",
  tokenizer: "tokenizer?",
  title: "text?",
  alternativeBytes: fromTo(0, Infinity),
};

/** Beyond e^-20 nobody asks for digits. */
export const mostSurprise = 20;

/** A tree as its explorer's page reads it; `rightRule` where its prompt is one of several. */
export function makePayload(
  tree: RolloutTree,
  options: ExploreOptions & { rightRule?: RightRule } = {},
): ExplorerPayload {
  const { scored, batch, tokenizer = tree.tokenizer, alternativeBytes = 1_600_000 } = options;
  const { rightRule } = options;
  const total = tree.nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  const entropies = new Float32Array(total).fill(NaN);
  const surprises = new Float32Array(total).fill(NaN);
  const ids = new Int32Array(total);
  const starts: number[] = [];
  const depths: number[] = [];
  let at = 0;
  for (const node of tree.nodes) {
    starts.push(at);
    const { parent } = node;
    depths.push(parent < 0 ? 0 : depths[parent]! + tree.nodes[parent]!.tokens.length);
    ids.set(node.tokens, at);
    entropies.set(node.entropies, at);
    surprises.set(
      node.logprobs.map((logprob) => -logprob),
      at,
    );
    at += node.tokens.length;
  }
  const { vocabulary, place } = packVocabulary(tokenizer);
  const tokens = Array.from(ids, place);
  const top = alternatives(tree, starts, total, place, alternativeBytes);
  const wide = [...tokens, ...(top?.ids ?? [])].some((value) => value > 65535);
  const rewards = scored && rewardsOf(tree, scored, rightRule ?? ruleOf(scored.trajectories));
  const broken = new Set(vocabulary.flatMap((text, i) => (text.includes("\ufffd") ? [i] : [])));

  const nodes = tree.nodes.map((node, i): PageNode => {
    const { parent, kind, trajectory, round, entropy, finish, stop, branch, run } = node;
    const [start, length] = [starts[i]!, node.tokens.length];
    const told = tokenizer && !tokens.slice(start, start + length).some((t) => broken.has(t));
    return {
      ...{ parent, kind, trajectory, round, start, length, depth: depths[i]! },
      ...{ entropy, finish, stop, branch, reward: rewards?.nodes[i] },
      tool: node.tool && { ...node.tool, text: undefined }, // the tokens tell it
      text: told ? undefined : node.text,
      ...{ began: run?.start, ended: run?.end, toolMs: run?.toolMs },
    };
  });
  const trajectories = tree.trajectories.map((row, i): PageTrajectory => {
    const { kind, parent, from, leaf, end, calls } = row;
    const score = rewards?.rows[i];
    const told = {
      score: score?.score,
      reason: score?.reason,
      ...defined({ verdict: rewards?.verdicts?.[i] }),
    };
    return { kind, parent, from, leaf, end, calls, ...told };
  });
  const branches = trajectories.filter((trajectory) => trajectory.kind === "branch").length;
  const titles = Object.fromEntries(rules.all.map(({ name, title }) => [name, title]));
  const ofTokens = (read: (row: BatchSequence) => ArrayLike<number>) =>
    batch && packNumbers(meansOf(tree, batch, starts, total, read));
  const isTaught = batch?.trajectories.some(({ teacherLogprobs }) => teacherLogprobs);
  return {
    title:
      options.title ??
      [
        many(trajectories.length, "trajectory", "trajectories"),
        many(branches, "branch", "branches"),
        many(total, "token"),
        `${ruleName(titles, tree.config.rule)}, seed ${tree.seed}`,
      ].join(" · "),
    ...defined({ rightBy: rewards?.rightBy }),
    prompt: tree.prompt.text,
    ...truthOf(tree),
    plan: planReplay(tree),
    rule: tree.config.rule as RolloutRule,
    expansions: expansionPlans(tree, tokenizer),
    titles,
    vocabulary,
    tokens: packIntegers(tokens, wide),
    wide,
    entropies: packNumbers(entropies),
    surprises: packNumbers(surprises, mostSurprise),
    advantages: ofTokens((row) => row.advantages),
    ...(isTaught && { gaps: ofTokens(teacherGaps) }),
    top: top && {
      width: top.width,
      ids: packIntegers(top.ids, wide),
      surprises: packNumbers(top.surprises, mostSurprise),
    },
    nodes,
    trajectories,
  };
}

/** The right answer, where it is short enough for a header. */
function truthOf({ task }: RolloutTree): { truth?: string } {
  const { groundTruth } = task as { groundTruth?: unknown };
  const said = typeof groundTruth === "number" ? String(groundTruth) : groundTruth;
  return typeof said === "string" && said !== "" && said.length <= 80 ? { truth: said } : {};
}

/** As many of the alternatives as fit: four bytes each, the most likely first. */
function alternatives(
  tree: RolloutTree,
  starts: readonly number[],
  total: number,
  place: (id: number) => number,
  bytes: number,
) {
  const widest = tree.nodes.reduce((most, node) => Math.max(most, node.top?.width ?? 0), 0);
  const width = Math.min(widest, Math.floor(bytes / Math.max(1, 4 * total)));
  if (width === 0) return undefined;
  const ids = new Array<number>(total * width).fill(0);
  const surprises = new Float32Array(total * width).fill(NaN);
  tree.nodes.forEach(({ top, tokens }, n) => {
    if (!top) return;
    for (let t = 0; t < tokens.length; t++) {
      for (let k = 0; k < Math.min(width, top.width); k++) {
        const to = (starts[n]! + t) * width + k;
        ids[to] = place(top.ids[t * top.width + k]!);
        surprises[to] = -top.logprobs[t * top.width + k]!;
      }
    }
  });
  return { width, ids, surprises };
}

/** The score of each trajectory, and of each node the mean over the trajectories through it. */
function rewardsOf(tree: RolloutTree, scored: Scored, rule: RightRule) {
  const own = scored.trajectories.filter(({ trajectory }) => trajectory.tree === tree.index);
  const sums = tree.nodes.map(() => ({ sum: 0, count: 0 }));
  const rows: (Score | undefined)[] = tree.trajectories.map(() => undefined);
  for (const { trajectory, score } of own) {
    if (rows[trajectory.id]) continue; // a trajectory repeated to fill the group
    rows[trajectory.id] = score;
    for (const node of trajectory.nodes) {
      sums[node]!.sum += score.score;
      sums[node]!.count++;
    }
  }
  return {
    ...{ rows, ...verdictsOf(rows, rule) },
    nodes: sums.map(({ sum, count }) => (count > 0 ? sum / count : undefined)),
  };
}

/** Which trajectories are right where no score of the usual scale says so. */
function verdictsOf(
  rows: readonly (Score | undefined)[],
  rule: RightRule,
): { verdicts?: readonly (Verdict | undefined)[]; rightBy?: string } {
  if (rule.scale === "usual") return {};
  const verdicts = areRight(rows, rule).map((right) =>
    right === undefined ? undefined : right ? "right" : "wrong",
  );
  return { verdicts, rightBy: rule.by };
}

/** What is known of each token, the mean over the trajectories that share it; NaN where none is trained. */
function meansOf(
  tree: RolloutTree,
  batch: TrainingBatch,
  starts: readonly number[],
  total: number,
  read: (row: BatchSequence) => ArrayLike<number>,
): Float32Array {
  const sums = new Float32Array(total);
  const counts = new Uint32Array(total);
  for (const row of batch.trajectories) {
    const { trajectory } = row;
    if (trajectory.tree !== tree.index) continue;
    const values = read(row);
    let t = 0;
    for (const node of trajectory.nodes) {
      const { length } = tree.nodes[node]!.tokens;
      for (let i = 0; i < length && t < values.length; i++, t++) {
        if (!trajectory.lossMask[t] || Number.isNaN(values[t])) continue;
        sums[starts[node]! + i]! += values[t]!;
        counts[starts[node]! + i]!++;
      }
    }
  }
  return sums.map((sum, i) => (counts[i]! > 0 ? sum / counts[i]! : NaN));
}

/** What a tree of other people's trajectories is called: no seed and no rule made it. */
export function titleOfImported({ trajectories, nodes }: RolloutTree): string {
  const tokens = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  return [
    many(trajectories.length, "trajectory", "trajectories"),
    many(nodes.length, "segment"),
    many(tokens, "token"),
  ].join(" · ");
}
