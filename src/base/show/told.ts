import {
  checkOptions,
  integer,
  oneOf,
  type OptionRules,
} from "../../../common/options/check-options.js";
// What is read of trees and of what was made from them. The classes stand above this module.

interface ToldNode {
  id: number;
  trajectory: number;
  kind: string;
  tokens: ArrayLike<number>;
  entropies: Iterable<number>;
  branch?: readonly {
    branch: boolean;
    trajectory: number;
    child?: number;
    round: number;
    reason: string;
    entropy: number;
  }[];
}

interface ToldTrajectory {
  id: number;
  kind: string;
  parent: number;
  leaf: number;
  end: string;
  calls: number;
  tokens: ArrayLike<number>;
  text: string;
  lossMask: ArrayLike<number>;
  outcome?: { score?: number; reason: string; parts?: Record<string, number> };
  toolCalls: readonly {
    tag: string;
    input: string;
    text: string;
    ok: boolean;
    failure?: unknown;
  }[];
}

interface ToldTree {
  prompt: { text: string };
  policy: string;
  nodes: readonly ToldNode[];
  trajectories: readonly ToldTrajectory[];
  config: { rule: string; seed: number };
  canGoOn: boolean;
  tokenizer?: { decode(ids: ArrayLike<number>): string } | undefined;
  path(node: number): readonly ToldNode[];
}

interface ToldScore {
  trajectory: ToldTrajectory;
  score: { score: number; reason: string; answer?: string; parts?: Record<string, number> };
  turnRewards?: readonly number[];
}

interface ToldScored {
  trajectories: readonly ToldScore[];
  trees: readonly ToldTree[];
}

interface ToldBatch {
  estimator: string;
  scored?: ToldScored | undefined;
  trajectories: readonly { trajectory: ToldTrajectory; advantages: ArrayLike<number> }[];
}

interface ToldImport {
  prompts: readonly unknown[];
  tree(index: number): ToldTree;
  scoredOf(index: number): ToldScored | undefined;
  batchOf(index: number): ToldBatch | undefined;
}

type ToldOne = ToldTree | ToldScored | ToldBatch | ToldImport | { readonly scored: ToldScored };

/** Values that hold trees. */
export type ToldValue = ToldOne | readonly ToldOne[];

/** A question about the trees of a value. */
export interface AskTold {
  /** `trees`: a line for each; `tree`: one; `score`: one trajectory's; `place`: where a fork would begin. */
  what: "trees" | "tree" | "score" | "place";
  /** The tree's place among those of the value. Default: 0. */
  tree?: number;
  /** The first tree of a list. Default: 0. */
  from?: number;
  trajectory?: number;
  /** A token of the trajectory's response. */
  token?: number;
}

const rules: OptionRules<AskTold> = {
  what: oneOf(["trees", "tree", "score", "place"]),
  tree: integer(0),
  from: integer(0),
  trajectory: integer(0),
  token: integer(0),
};

/** A tree with what is known of its trajectories' scores. */
interface Told {
  tree: ToldTree;
  scores: ReadonlyMap<number, Pick<ToldScore, "score" | "turnRewards">>;
  batch?: ToldBatch;
}

interface Trees {
  /** What has them: a tree is the value itself, or one of its items, or of its `trees`. */
  of: "tree" | "trees" | "scored" | "other";
  count: number;
  at(index: number): Told;
}

// What a list and a text may have at most: an answer is read by a model, whose context is small.
const most = { trees: 50, trajectories: 32, branches: 24, uncertain: 10, text: 240, reason: 600 };

const isTree = (value: object): value is ToldTree => "nodes" in value && "config" in value;

function scoredTrees(scored: ToldScored, batch?: ToldBatch): Trees {
  const { trees } = scored;
  return {
    of: batch ? "other" : "scored",
    count: trees.length,
    at: (index) => {
      const tree = trees[index]!;
      const own = scored.trajectories.filter(
        ({ trajectory }) => tree.trajectories[trajectory.id] === trajectory,
      );
      const scores = new Map(own.map((one) => [one.trajectory.id, one] as const));
      return { tree, scores, ...(batch && { batch }) };
    },
  };
}

const noTrees = () =>
  new RangeError(
    "Cannot tell of a value: it must be a tree, scored trajectories, a batch or an import, or a list of them",
  );

function treesOf(value: ToldValue): Trees {
  if (Array.isArray(value)) {
    const all = (value as readonly ToldOne[]).map(treesOf);
    const places = all.flatMap((trees) =>
      Array.from({ length: trees.count }, (_, i) => [trees, i] as const),
    );
    const of = all.every((trees) => trees.of === "tree") ? "trees" : "other";
    return { of, count: places.length, at: (index) => places[index]![0].at(places[index]![1]) };
  }
  const one = value as ToldOne;
  if (typeof one !== "object" || one === null) throw noTrees();
  if (isTree(one))
    return { of: "tree", count: 1, at: () => ({ tree: one, scores: outcomes(one) }) };
  if ("prompts" in one && "batchOf" in one) {
    return {
      of: "other",
      count: one.prompts.length,
      at: (index) => {
        const tree = one.tree(index);
        const found = one.scoredOf(index)?.trajectories ?? [];
        const batch = one.batchOf(index);
        const scores = new Map(found.map((scored) => [scored.trajectory.id, scored] as const));
        return { tree, scores, ...(batch && { batch }) };
      },
    };
  }
  if ("estimator" in one) {
    if (one.scored !== undefined) return scoredTrees(one.scored, one);
    throw new RangeError("Cannot tell of a batch: it must know what it was estimated from");
  }
  if ("scored" in one) return { ...scoredTrees(one.scored), of: "other" };
  if ("trees" in one) return scoredTrees(one);
  throw noTrees();
}

/** The scores that a tree has by itself: its environment's. */
function outcomes(tree: ToldTree): Told["scores"] {
  return new Map(
    tree.trajectories.flatMap(({ id, outcome }) =>
      outcome?.score === undefined
        ? []
        : [
            [
              id,
              {
                score: {
                  score: outcome.score,
                  reason: outcome.reason,
                  ...(outcome.parts && { parts: outcome.parts }),
                },
              },
            ] as const,
          ],
    ),
  );
}

/** The beginning and the end of a text that is too long, and how much lies between them. */
function short(text: string, length = most.text): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= length) return line;
  const half = Math.floor(length / 2);
  return `${line.slice(0, half)} […${line.length - 2 * half} characters…] ${line.slice(-half)}`;
}

const round = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);
const mean = (values: readonly number[]) =>
  values.length === 0 ? undefined : round(values.reduce((a, b) => a + b, 0) / values.length);
const left = <T>(all: readonly T[], limit: number) =>
  all.length > limit ? { left_out: all.length - limit } : {};

function line({ tree, scores }: Told, index: number) {
  const all = [...scores.values()].map(({ score }) => score.score);
  return {
    tree: index,
    prompt: short(tree.prompt.text),
    trajectories: tree.trajectories.length,
    branches: tree.trajectories.filter(({ kind }) => kind === "branch").length,
    mean_score: mean(all),
  };
}

/** The text of a token, where its tokenizer is known. */
function tokenText(tree: ToldTree, id: number): string | undefined {
  return tree.tokenizer?.decode([id]);
}

/** Where a trajectory's own nodes begin in its response. */
function placesOf(tree: ToldTree, { leaf }: Pick<ToldTrajectory, "leaf">) {
  let begin = 0;
  return tree.path(leaf).map((node) => {
    const place = { node, begin };
    begin += node.tokens.length;
    return place;
  });
}

function summary(told: Told, index: number) {
  const { tree, scores } = told;
  const { trajectories, nodes, config } = tree;
  const shown = trajectories.slice(0, most.trajectories);
  const attempts = nodes.flatMap(({ branch }) => branch ?? []);
  const made = attempts.filter(({ branch }) => branch);
  const tokens = shown.flatMap((trajectory) =>
    placesOf(tree, trajectory)
      .filter(({ node }) => node.trajectory === trajectory.id && node.kind === "model")
      .flatMap(({ node, begin }) =>
        [...node.entropies].map((entropy, i) => ({
          trajectory: trajectory.id,
          token: begin + i,
          text: tokenText(tree, node.tokens[i]!),
          entropy,
        })),
      ),
  );
  const uncertain = tokens
    .filter(({ entropy }) => Number.isFinite(entropy))
    .sort((a, b) => b.entropy - a.entropy)
    .slice(0, most.uncertain);
  return {
    ...line(told, index),
    prompt: short(tree.prompt.text, most.reason),
    policy: tree.policy,
    rule: config.rule,
    seed: config.seed,
    trajectories: shown.map(({ id, kind, parent, calls, end, tokens: own, text }) => ({
      ...{ trajectory: id, kind, calls, end, tokens: own.length },
      ...(kind === "branch" ? { branch_of: parent } : {}),
      score: scores.get(id)?.score.score,
      text: short(text),
    })),
    ...left(trajectories, most.trajectories),
    branched: made
      .slice(0, most.branches)
      .map(({ trajectory, child, round: at, reason, entropy }) => ({
        ...{ trajectory, child, round: at, why: short(reason) },
        entropy: round(entropy),
      })),
    branch_attempts: attempts.length,
    most_uncertain: uncertain.map((one) => ({ ...one, entropy: round(one.entropy) })),
  };
}

function trajectoryIn(tree: ToldTree, id: number | undefined): ToldTrajectory {
  const found = id === undefined ? undefined : tree.trajectories[id];
  if (found !== undefined) return found;
  throw new RangeError(
    `Cannot tell of a trajectory: it must be one of 0 to ${tree.trajectories.length - 1}, got ${String(id)}`,
  );
}

function explained({ tree, scores, batch }: Told, asked: number | undefined) {
  const trajectory = trajectoryIn(tree, asked);
  const { id, end, calls, tokens } = trajectory;
  const found = scores.get(id);
  const all = [...scores.values()].map(({ score }) => score.score);
  const sequence = batch?.trajectories.find((one) => one.trajectory === trajectory);
  const own = sequence
    ? Array.from(sequence.advantages).filter((_, t) => trajectory.lossMask[t] === 1)
    : [];
  return {
    ...{ trajectory: id, end, calls, tokens: tokens.length },
    trained_tokens: Array.from(trajectory.lossMask).reduce((sum, m) => sum + m, 0),
    prompt: short(tree.prompt.text, most.reason),
    text: short(trajectory.text, 2 * most.reason),
    tool_calls: trajectory.toolCalls.slice(0, 16).map(({ tag, input, text, ok, failure }) => ({
      ...{ tool: tag, input: short(input), result: short(text), ok },
      ...(failure === undefined ? {} : { failure }),
    })),
    ...(found === undefined
      ? { score: null, why_none: "nobody scored it: ask for the value that score() gave" }
      : {
          score: found.score.score,
          reason: short(found.score.reason, most.reason),
          answer: found.score.answer === undefined ? undefined : short(found.score.answer),
          parts: found.score.parts,
          turn_rewards: found.turnRewards,
        }),
    group: { mean_score: mean(all), scored: all.length },
    ...(sequence && {
      advantages: {
        estimator: batch?.estimator,
        mean: mean(own),
        lowest: own.length === 0 ? undefined : round(own.reduce((a, b) => Math.min(a, b))),
        highest: own.length === 0 ? undefined : round(own.reduce((a, b) => Math.max(a, b))),
      },
    }),
  };
}

/** The node that wrote a token of a trajectory's response, and the token's place in it. */
function place(tree: ToldTree, of: Trees["of"], ask: AskTold) {
  const trajectory = trajectoryIn(tree, ask.trajectory);
  const { token = 0 } = ask;
  const found = placesOf(tree, trajectory).find(
    ({ node, begin }) => token >= begin && token < begin + node.tokens.length,
  );
  if (found?.node.kind !== "model") {
    throw new RangeError(
      `Cannot fork: token must be one that the model wrote, of ${trajectory.tokens.length} of the response, got ${token}`,
    );
  }
  return { node: found.node.id, at: token - found.begin, of, can_go_on: tree.canGoOn };
}

/** Answers a program about the trees of a value, in plain data of bounded size. */
export function tell(value: ToldValue, ask: AskTold): Record<string, unknown> {
  checkOptions("tell of trees", ask, rules);
  const trees = treesOf(value);
  if (ask.what === "trees") {
    const { from = 0 } = ask;
    const indices = Array.from({ length: trees.count }, (_, i) => i);
    const listed = indices.slice(from, from + most.trees);
    return { of: trees.count, trees: listed.map((index) => line(trees.at(index), index)) };
  }
  const { tree: index = 0 } = ask;
  if (index >= trees.count) {
    throw new RangeError(
      `Cannot tell of a tree: its number must be one of 0 to ${trees.count - 1}, got ${index}`,
    );
  }
  const told = trees.at(index);
  if (ask.what === "tree") return summary(told, index);
  return ask.what === "score" ? explained(told, ask.trajectory) : place(told.tree, trees.of, ask);
}
