import { type OptionRules } from "../../../common/options/check-options.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import {
  rules as registry,
  isExpansion,
  type ExpandOptions,
  type ExpansionRule,
  writtenRule,
} from "../../rollout/rules/registry.js";
import type { RolloutRule } from "../../rollout/options.js";
import type { Replay, ReplayPoint } from "../../rollout/replay/replay-result.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import { type ReadToken, trajectoryReader, type TrajectoryReader } from "./read-trajectories.js";

/** A trajectory of the tree on the axis. */
export interface BranchingTrajectory {
  id: number;
  /** Tokens that it shares with the trajectory it left, and all of them. */
  shared: number;
  length: number;
  /** Where tools answered. */
  results: [from: number, to: number][];
}

/** A place where a rule would branch, however many trajectories leave there. */
export interface ShownPoint extends ReadToken {
  trajectory: number;
  /** Tokens that stay. */
  at: number;
  /** The token it is about, by its place in the response. */
  place: number;
  round: number;
  /** Its trajectories' places among the branches of the round, and the score of each. */
  orders: number[];
  scores: number[];
  /** Trajectories of the tree that leave there. */
  children: number[];
  /** What the rule goes by, in words and numbers. */
  why: string;
}

/** One rule's line. */
export interface ShownRule {
  name: string;
  meaning: string;
  /** What of its settings says most. */
  note?: string;
  /** What the tree lacks for it, instead of points. */
  missing?: string;
  points: ShownPoint[];
  /** The first scores of its points from the lowest to the highest, as the ends of a ramp. */
  range: [low: number, high: number];
  /** Branches it would make, and those the tree does not have. */
  branches: number;
  unseen: number;
}

/** What the page is given. */
export interface BranchingPayload {
  summary: string[];
  trajectories: BranchingTrajectory[];
  longest: number;
  rules: ShownRule[];
  /** The mean entropy along the axis, in so many equal parts; null where nothing was drawn. */
  profile: (number | null)[];
}

/** Points' first scores from the lowest to the highest, as the ends of a ramp. */
function scoreRange(points: readonly { scores: readonly number[] }[]): [low: number, high: number] {
  const firsts = points.map(({ scores: [first] }) => first!);
  const [low, high] = [Math.min(...firsts), Math.max(...firsts)];
  return high > low ? [low, high] : [low - 1, low];
}

/** What a branching view shows. */
export interface BranchingOptions {
  /** Default: every rule there is. */
  rules?: readonly RolloutRule[];
  /** Settings by rule. Default: the tree's own for its own rule, the published ones for others. */
  expand?: Partial<Record<ExpansionRule, ExpandOptions>>;
  /** For trees from files, whose tokens cannot be told otherwise. Default: the tree's own. */
  tokenizer?: Tokenizer;
  /** ln p of each trajectory's tokens under a policy of now, for rules that look ahead. Default: none. */
  current?: readonly ArrayLike<number>[];
  /** What stands above the view. Default: the trajectories, tokens, seed and rule. */
  title?: string;
}

export const branchingRules: OptionRules<BranchingOptions> = {
  rules: "list?",
  expand: "object?",
  tokenizer: "tokenizer?",
  current: "list?",
  title: "text?",
};

/** Parts of the axis that the profile of entropy is told for. */
const parts = 120;

/** A tree and where each rule would branch in it, as the view's page reads it. */
export function branchingPayload(
  tree: RolloutTree,
  options: BranchingOptions = {},
): BranchingPayload {
  const { rules = registry.names } = options;
  const reader = trajectoryReader(tree, options.tokenizer ?? tree.tokenizer);
  const trajectories = tree.trajectories.map(({ id }): BranchingTrajectory => {
    const { shared, length, results } = reader.trajectory(id);
    return { id, shared, length, results };
  });
  const longest = Math.max(1, ...trajectories.map(({ length }) => length));
  const shown = rules.map((rule) => shownRule(tree, rule, options, reader));
  const own = tree.config.rule;
  const total = tree.nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const title =
    options.title ??
    `where ${rules.length} rules would branch: ${trajectories.length} trajectories, ${total} tokens, seed ${tree.seed}, grown by ${own}`;
  return {
    summary: [title, ...shown.map(inWords)],
    trajectories,
    longest,
    rules: shown,
    profile: reader.profile(parts, longest),
  };
}

function inWords({ name, missing, points, branches, unseen }: ShownRule): string {
  if (missing !== undefined) return `${name}: ${missing}`;
  const places = `${points.length} ${points.length === 1 ? "place" : "places"}`;
  return `${name}: ${branches} ${branches === 1 ? "branch" : "branches"} at ${places}, ${unseen} of them not in the tree`;
}

function shownRule(
  tree: RolloutTree,
  rule: RolloutRule,
  { expand = {}, tokenizer = tree.tokenizer, current }: BranchingOptions,
  reader: TrajectoryReader,
): ShownRule {
  const bare = {
    name: rule,
    meaning: registry.get(rule)?.words ?? "",
    points: [],
    range: [0, 1] as [number, number],
    branches: 0,
    unseen: 0,
  };
  let replay: Replay;
  try {
    replay = tree.replay({
      rule,
      // A tree without attempts is asked what one a round would have done.
      attemptsPerTrajectory: Math.max(1, tree.config.attemptsPerTrajectory),
      ...(isExpansion(rule) ? { expand: expand[rule], tokenizer, current } : {}),
    });
  } catch (error) {
    const { message } = error as Error;
    return { ...bare, missing: message.replace(/^Cannot [^:]*: /, "") };
  }
  const why = whyOf(replay, current !== undefined);
  const grouped = new Map<string, ShownPoint>();
  for (const point of replay.points) {
    const { trajectory, at, token, score, round, order, child } = point;
    const key = `${round} ${trajectory} ${at} ${token}`;
    const known = grouped.get(key) ?? {
      ...{ trajectory, at, place: token ?? at, round, orders: [], scores: [], children: [] },
      ...reader.around(trajectory, token ?? at),
      why: why(point),
    };
    known.orders.push(order);
    known.scores.push(score);
    if (child !== undefined) known.children.push(child);
    grouped.set(key, known);
  }
  const { branches, unseen, settings } = replay;
  const note = "segment" in settings ? { note: `segments of ${settings.segment}` } : {};
  const points = [...grouped.values()];
  return { ...bare, ...note, points, range: scoreRange(points), branches, unseen };
}

/** What a replay says of a branch of it. */
function whyOf({ settings, attempts }: Replay, hasFuture: boolean): (point: ReplayPoint) => string {
  const written = writtenRule(settings.rule);
  if (written)
    return ({ score, token }) => written.why({ ...settings }, { score, token, hasFuture });
  return ({ trajectory, round }) =>
    attempts
      .filter((one) => one.trajectory === trajectory && one.round === round && one.branch)
      .map(({ reason }) => reason)
      .join("; ");
}
