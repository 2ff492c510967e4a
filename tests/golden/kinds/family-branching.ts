import { appoRewardScale } from "../../../src/learn/estimators/appo.js";
import { appoBranchPoints, appoFutureValues } from "../../../src/rollout/rules/appo.js";
import { appoRolloutPoints } from "../../../src/rollout/rules/appo-rollout.js";
import {
  at2poCandidates,
  at2poExpand,
  at2poLeaves,
  type TurnOutline,
} from "../../../src/rollout/rules/at2po.js";
import { fr3eAnchors } from "../../../src/rollout/rules/fr3e.js";
import {
  breadthFirst,
  innerNodes,
  leavesOf,
  type Outline,
  withLeaves,
} from "../../../src/rollout/branch/family/outline.js";
import { treeGrpoExpand } from "../../../src/rollout/rules/tree-grpo.js";
import { treepoDivergence } from "../../../src/rollout/rules/treepo.js";
import {
  firstOf,
  rankTokens,
  treerlMask,
  treerlSelect,
} from "../../../src/rollout/rules/treerl.js";
import { leafSums, total } from "../../../src/learn/estimators/credit.js";
import { treeDiff, treeDiffSums } from "../../../src/learn/estimators/tree-grpo.js";
import type { Runners } from "../runner.js";

const ids = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => id);
const negative = (list: readonly number[]) => list.map((x) => -x);

/** Entropy of returned log-probabilities, as APPO takes it: not renormalised, never below 0. */
const entropyOf = (list: readonly number[] | null) =>
  Math.max(0, -(list ?? []).reduce((sum, l) => sum + Math.exp(l) * l, 0));

interface RequestInput {
  prompts: number[][];
  responses: number[][];
  token_texts: string[][];
  mask: number[][];
  current_log_probs: number[][];
  rollout_log_probs: number[][];
  entropies: number[][];
  index: string[];
  rollout_kind: string[];
  max_branches_per_prompt: number;
  gamma: number;
  clip_eps: number | null;
  pad_token_id: number;
}

export const runners: Runners = {
  appo_branch_request: (input: RequestInput) => {
    const rows = input.index.flatMap((_, i) => (input.rollout_kind[i] === "init" ? [i] : []));
    const seen = rows.map((i) => {
      const mask = input.mask[i]!;
      const ratios = mask.map(
        (_, t) => input.current_log_probs[i]![t]! - input.rollout_log_probs[i]![t]!,
      );
      const { gamma, clip_eps } = input;
      return {
        mask,
        blank: input.token_texts[i]!.map((text) => text.trim() === ""),
        entropies: input.entropies[i]!,
        future: appoFutureValues(ratios, mask, { gamma, clip: clip_eps ?? 0 }),
      };
    });
    const order = [
      ...new Set(
        rows.flatMap((i, place) => {
          const { mask, blank } = seen[place]!;
          return mask.some((m, t) => m && !blank[t]) ? [input.index[i]!] : [];
        }),
      ),
    ];
    const request = order.flatMap((prompt) => {
      const own = rows.flatMap((i, place) => (input.index[i] === prompt ? [{ i, place }] : []));
      const points = appoBranchPoints(
        own.map(({ place }) => seen[place]!),
        input.max_branches_per_prompt,
      );
      return points.flatMap(({ trajectory, token, score }) => {
        const { i } = own[trajectory]!;
        const response = input.responses[i]!;
        const remaining = response.length - (token + 1);
        const prefix = [...input.prompts[i]!, ...response.slice(0, token + 1)];
        const tokens = prefix.filter((id) => id !== input.pad_token_id);
        return remaining > 0 ? [{ row: i, index: token, score, remaining, prefix: tokens }] : [];
      });
    });
    return { request: request.length > 0 ? request : null };
  },

  appo_branching_score: ({ tokens, top_log_probs, future_values, budget }) => {
    const found = appoRolloutPoints(
      tokens,
      (top_log_probs as (number[] | null)[]).map(entropyOf),
      future_values ?? undefined,
    );
    const candidates = found.map(({ token, score }) => ({ index: token, score }));
    return {
      candidates: [...candidates].sort((a, b) => a.index - b.index),
      selected: candidates.slice(0, budget).map(({ index }) => index),
    };
  },

  appo_future_value: (input) =>
    input.kind === "reward_scale"
      ? {
          scale: appoRewardScale({
            token: input.branch_token_response_idx,
            score: input.branch_score,
            best: input.max_branch_score,
            length: input.response_length,
            discount: input.discount,
          }),
        }
      : {
          future_values: (input.log_ratio as number[][]).map((row, i) =>
            appoFutureValues(row, input.response_mask[i], {
              gamma: input.gamma,
              clip: input.clip_eps,
            }),
          ),
        },

  at2po_expand: ({ tree, k }: { tree: TurnOutline; k: number }) => {
    const candidates = at2poCandidates(tree);
    const chosen = at2poExpand(tree, k);
    return {
      candidates: candidates.map(({ turn }) => turn.id),
      scores: Object.fromEntries(candidates.map(({ turn, score }) => [turn.id, score])),
      expanded: chosen.map(({ turn }) => turn.id),
      new_branches: chosen.map(({ turn, above }) => ({ parent: above.id, regenerates: turn.id })),
    };
  },

  at2po_leaves: ({ tree, n, kept_positions }) => {
    const after = at2poLeaves(tree as TurnOutline, n, kept_positions ?? []);
    const count = new Map<string, number>();
    const named = after.map(({ id }) => {
      const times = count.get(id) ?? 0;
      count.set(id, times + 1);
      return times === 0 ? id : `${id}_dup${times}`;
    });
    return {
      leaves_before: ids(leavesOf(tree as TurnOutline)),
      leaves_after: named,
      nodes_after: nodesAfter(tree as TurnOutline, named),
    };
  },

  fr3e_anchors: ({ log_probs, max_block_num }) => ({
    prefix_lengths: [0, ...fr3eAnchors(negative(log_probs), max_block_num)],
  }),

  tree_grpo_tree: (input: {
    tree: ScoredOutline;
    margin: number;
    expand_draws: number[];
    keep_leaves: number;
    leaf_permutation: number[];
  }) => {
    const { tree } = input;
    const leaves = leavesOf(tree);
    const kept = new Set(
      input.leaf_permutation.slice(0, input.keep_leaves).map((at) => leaves[at]!.id),
    );
    const { sums, final, tokens } = treeDifference(tree, input.margin);
    const left = withLeaves(tree, kept);
    return {
      breadth_first: ids(breadthFirst(tree)),
      candidates: ids(innerNodes(tree)),
      expanded: ids(treeGrpoExpand(tree, input.expand_draws)),
      subtree_leaf_score: Object.fromEntries(sums),
      final_score: Object.fromEntries(final),
      token_level_scores: Object.fromEntries(tokens),
      sampled_leaves: ids(leavesOf(left)),
      nodes_after_pruning: ids(breadthFirst(left)),
    };
  },

  treepo_divergence: (input) => {
    const branches = treepoDivergence({
      paths: input.log_probs,
      finished: input.finished_this_step,
      finishedInAll: input.finished_before,
      width: input.max_width,
      divergence: input.fixed_step_width,
      segment: input.max_token_per_step,
      allocation: input.policy,
      temperature: input.temperature,
      budget: input.budget_control === "by_fixed_div" ? "paths" : "tokens",
    });
    return { total_divergence: branches.reduce((sum, b) => sum + b, 0), branches };
  },

  treerl_select: (input: {
    forest: {
      parent: number | null;
      split: number | null;
      tokens: string[];
      log_probs: number[];
    }[][];
    n: number;
    max_length: number;
    use_diverse_sampling: boolean;
    diverse_upsampling: number;
  }) => {
    const forest = input.forest.map((chains) => {
      const prefixed: boolean[] = [];
      return chains.map(({ parent, split, tokens, log_probs }, i) => {
        prefixed[i] = parent !== null && (split! > 0 || prefixed[parent]!);
        return { prefixed: prefixed[i], texts: tokens, signal: negative(log_probs) };
      });
    });
    const upsampling = input.use_diverse_sampling ? input.diverse_upsampling : 0;
    const lengths = (i: number) => (i === 0 ? input.max_length : undefined);
    const chosen = treerlSelect(forest, {
      points: input.n,
      upsampling,
      maxLength: input.max_length,
    });
    return {
      mask: forest.map((chains) => chains.map((chain, i) => treerlMask(chain, lengths(i)))),
      per_chain: forest.map((chains) =>
        chains.map((chain, i) => firstOf(rankTokens(chain, lengths(i)), input.n)),
      ),
      selected: chosen.map(({ tree, chain, token }) => ({ tree, chain, token })),
    };
  },
};

interface ScoredOutline extends Outline {
  tokens: number;
  score?: number;
  children?: readonly ScoredOutline[];
}

/** Tree-GRPO's `tree_diff` by the nodes' ids. */
function treeDifference(root: ScoredOutline, margin: number) {
  const listed = [root, ...breadthFirst(root)];
  const parents = new Map<ScoredOutline, number>();
  for (const [i, node] of listed.entries()) {
    for (const child of node.children ?? []) parents.set(child, i);
  }
  const nodes = listed.map(({ tokens, score, children = [] }, i) => ({
    parent: parents.get(listed[i]!) ?? -1,
    tokens,
    ...(children.length === 0 ? { score: score ?? 0 } : {}),
  }));
  const leaves = listed.flatMap(({ children = [] }, i) => (children.length === 0 ? [i] : []));
  const rowLength = (leaf: number): number =>
    leaf < 0 ? 0 : nodes[leaf]!.tokens + rowLength(nodes[leaf]!.parent);
  const mask = leaves.map((leaf) => new Array<number>(rowLength(leaf)).fill(1));
  const { advantages } = treeDiff({ tree: { nodes }, leaves, mask }, { margin });
  const sumOf = treeDiffSums({ nodes }, margin);
  return {
    sums: listed.map(({ id }, i) => [id, leafSums({ nodes }).sum[i]!] as const),
    final: listed.slice(1).map(({ id }, i) => [id, total(sumOf(i + 1))] as const),
    tokens: leaves.map((leaf, i) => [listed[leaf]!.id, [...advantages[i]!]] as const),
  };
}

/** Every node left, level by level, with the copies beside what they copy. */
function nodesAfter(tree: TurnOutline, leaves: readonly string[]): string[] {
  const copies = leaves.filter((id) => id.includes("_dup"));
  const add = (node: TurnOutline): TurnOutline => ({
    ...node,
    children: (node.children ?? [])
      .map(add)
      .concat(
        (node.children ?? []).some(({ id }) => copies.some((c) => c.startsWith(`${id}_dup`)))
          ? copies.map((id) => ({ id }))
          : [],
      ),
  });
  return ids(breadthFirst(add(withLeaves(tree, new Set(leaves)))));
}
