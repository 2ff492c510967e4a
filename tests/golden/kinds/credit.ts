import { defined } from "../../../common/options/defined.js";
import { appoRewards, appo } from "../../../src/learn/estimators/appo.js";
import { at2poNodeValues, at2po } from "../../../src/learn/estimators/at2po.js";
import {
  childrenOf,
  leavesOf,
  type CreditNode,
  total,
} from "../../../src/learn/estimators/credit.js";
import { spoEdges, spoValues, spoChain, spoCutPoints } from "../../../src/learn/estimators/spo.js";
import { treeRlPaths, type TreeRlOptions } from "../../../src/learn/estimators/treerl.js";
import { fr3e } from "../../../src/learn/estimators/fr3e.js";
import { giGpo } from "../../../src/learn/estimators/gigpo.js";
import { mtGrpo } from "../../../src/learn/estimators/mt-grpo.js";
import { reinforcePlusPlusBaseline } from "../../../src/learn/estimators/plain/reinforce-plus-plus-baseline.js";
import { treeGrpo } from "../../../src/learn/estimators/tree-grpo.js";
import { treePo } from "../../../src/learn/estimators/treepo.js";
import type { Runners } from "../runner.js";

/** A tree as the files nest it. */
interface Nested {
  id: string;
  tokens: number;
  entropy?: number;
  score?: number;
  children?: Nested[];
}

/** The tree as a list, and the names of its nodes. */
function flat(root: Nested): { nodes: CreditNode[]; ids: string[] } {
  const nodes: CreditNode[] = [];
  const ids: string[] = [];
  const walk = ({ id, tokens, entropy, score, children = [] }: Nested, parent: number): void => {
    const node =
      nodes.push({
        ...{ parent, tokens },
        ...defined({ entropy, score }),
      }) - 1;
    ids.push(id);
    for (const child of children) walk(child, node);
  };
  walk(root, -1);
  return { nodes, ids };
}

const named = (ids: readonly string[], values: readonly number[]) =>
  Object.fromEntries(ids.map((id, i) => [id, values[i]]));

// The files' inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

const both = (advantages: readonly Float64Array[]) => ({ advantages, returns: advantages });

function treeRlOptions(o: any, selected: number[] | null): TreeRlOptions {
  return {
    weights: o.use_weighted_value ? o.weighted_value_style : "original",
    centre: o.overall_norm_style,
    bonus: o.use_chain_reward
      ? "chain"
      : o.use_orm_reward
        ? "orm"
        : o.use_state_value_reward
          ? "state"
          : o.use_value_only
            ? "value-only"
            : "none",
    averageChildren: o.average_one_generation,
    penalizeCut: o.inner_repetition_penalty,
    allAncestors: o.advantage_mix_allancestor,
    ...(selected === null ? {} : { trained: selected }),
  };
}

function treePoVector(v: any) {
  const outcome = { rewards: v.token_level_rewards, mask: v.response_mask };
  if (v.estimator === "reinforce_plus_plus_baseline") {
    return reinforcePlusPlusBaseline({ ...outcome, groups: v.index });
  }
  const form = {
    tree_reinforce_plus_plus_baseline: "tree",
    tree_segment_reinforce_plus_plus_baseline: "segment",
    spo: "spo",
  }[v.estimator as string] as "tree" | "segment" | "spo";
  const paths = (v.index as string[]).map((name) => name.split("#"));
  const input = { ...outcome, paths, lengths: paths.map((p) => p.slice(1).map(() => v.step_size)) };
  return both(
    treePo(input, {
      form,
      weights: v.adv_weight_strategy === "group_size" ? "size" : "average",
      skipEqual: Boolean(v.remove_no_std_subgroup),
      parentDecay: v.adv_eta ?? -1,
    }).advantages,
  );
}

export const runners: Runners = {
  tree_grpo_advantage: (v) => {
    const rows = {
      rewards: v.token_level_rewards,
      mask: v.response_mask,
      groups: v.index,
      trees: v.tree_index,
    };
    const options = { loneRow: "reward", epsilon: v.epsilon } as const;
    const credit = treeGrpo(rows, { ...options, form: v.estimator });
    // The terms by themselves.
    const part = (which: number) =>
      credit.spans.map((spans, row) =>
        Array.from(v.response_mask[row] as number[], (m, t) => {
          const span = spans.find(({ start, end }) => start <= t && t < end);
          return m * (span?.sum.terms[which]?.value ?? 0);
        }),
      );
    const [inter, inner] = v.estimator === "tree_inner" ? [part(1), part(0)] : [part(0), part(1)];
    return {
      ...both(credit.advantages),
      inter_tree_advantages: inter,
      inner_tree_advantages: inner,
    };
  },
  at2po_advantage: (v) => {
    const options = {
      normalizeLeaves: v.leaf_value_norm,
      value: v.node_value_mode,
      epsilon: v.epsilon,
    };
    return {
      trees: (v.trees as Nested[]).map((root) => {
        const { nodes, ids } = flat(root);
        const tree = { nodes };
        const leaves = leavesOf(tree, childrenOf(tree));
        const mask = leaves.map(() => new Array<number>(v.response_length).fill(1));
        const rows = { tree, leaves, mask };
        const at = (advantage: any) => at2po(rows, { ...options, advantage });
        const value = at2poNodeValues(tree, options);
        const parent = (node: number) => value[Math.max(0, nodes[node]!.parent)]!;
        const advantage = value.map((own, node) => {
          if (node === 0) return own;
          const [local, global] = [own - parent(node), own - value[0]!];
          return (
            { node_value: own, diff_parent: local, diff_global: global }[
              v.node_adv_mode as string
            ] ?? local + global
          );
        });
        return {
          value: named(ids, value),
          advantage: named(ids, advantage),
          leaves: leaves.map((leaf) => ids[leaf]),
          token_level_rewards: at("node_value").advantages,
          token_level_advantages: at(v.node_adv_mode).advantages,
        };
      }),
    };
  },
  treerl_credit: (v) => {
    const forest = (v.forest as any[][]).map((chains) =>
      chains.map(({ parent, split, tokens, score, binary, finish_reason }) => ({
        ...(parent === null ? {} : { parent, split }),
        ...{ tokens, score, correct: binary === 1, ended: finish_reason === "stop" },
      })),
    );
    const { paths } = treeRlPaths(forest, treeRlOptions(v.options, v.selected_leaves));
    const scores = forest.flat().map(({ score }) => score as number);
    return {
      mean_leaf_score: scores.reduce((a, b) => a + b, 0) / scores.length,
      paths: paths.map((path) =>
        path.map(({ tokens, value, state, passRatio }) => ({
          ...{ tokens, value, state_value: state, pass_ratio: passRatio },
        })),
      ),
    };
  },
  appo_advantage: (v) => {
    const input = {
      rewards: v.token_level_rewards,
      mask: v.response_mask,
      groups: v.index,
      initial: (v.rollout_kind as string[]).map((kind) => kind === "init"),
      branches: (v.branches as any[]).map((branch) => ({
        from: branch.orig_batch_row_idx,
        trajectory: branch.batch_row_idx,
        token: branch.branch_token_response_idx,
        score: branch.branch_score,
      })),
    };
    const options = {
      normalizeByDeviation: v.norm_by_std,
      rewardScaleDiscount: v.reward_scale_discount,
      epsilon: v.epsilon,
    };
    return {
      scaled_rewards: appoRewards(input, v.reward_scale_discount),
      advantages: appo(input, options).advantages,
    };
  },
  treepo_advantage: treePoVector,
  spo_chain: (v) => {
    const cut = { interval: v.cutpoint_interval, threshold: v.threshold };
    const points = spoCutPoints(v.probabilities, cut);
    const cuts = points.map((token, i) => ({ token, value: v.cutpoint_values[i] as number }));
    const mask = [(v.probabilities as number[]).map(() => 1)];
    const { advantages } = spoChain(
      { mask, probabilities: [v.probabilities], outcomes: [v.score], cuts: [cuts] },
      { threshold: v.threshold },
    );
    const last = v.probabilities.length - 1;
    const values = (v.probabilities as number[]).map((_, t) =>
      t === last || cuts.length === 0
        ? v.score
        : (cuts.find(({ token }) => token === t)?.value ?? null),
    );
    return { cutpoints: points, token_values: values, advantages: advantages[0] };
  },
  spo_tree: (v) => {
    const { nodes, ids } = flat(v.tree);
    const edges = spoEdges({ nodes }, { form: v.adv_method, onlyNonzero: v.only_nonzero });
    return {
      value: named(ids, spoValues({ nodes })),
      edges: edges.map(({ node, parent, advantage, prover, leaf }) => ({
        node: ids[node],
        parent: ids[parent],
        ...{ advantage, prover_advantage: prover, leaf },
      })),
    };
  },
  mt_grpo_advantage: (v) => {
    const input = {
      mask: v.completion_mask,
      groups: (v.turn_rewards as number[]).map((_, i) => Math.floor(i / v.num_generations)),
      turnRewards: v.turn_rewards,
      outcomes: v.outcome_rewards,
      combined: v.combined_rewards,
      hasResult: v.has_result,
    };
    const lone = (values: readonly number[]) => {
      const none = { mask: values.map(() => [1]), hasResult: values.map(() => false) };
      return mtGrpo({ ...input, ...none, combined: values }).advantages.map(([a]) => a);
    };
    return {
      turn_advantages: lone(v.turn_rewards),
      outcome_advantages: lone(v.outcome_rewards),
      combined_advantages: lone(v.combined_rewards),
      advantages: mtGrpo(input, { turnCoefficient: v.turn_advantage_coef }).advantages,
    };
  },
  gigpo_advantage: (v) => {
    const steps = (v.token_level_rewards as number[][]).map((row) =>
      row.reduce((a, b) => a + b, 0),
    );
    const input = {
      episodeRewards: steps,
      stepRewards: v.step_rewards,
      groups: v.index,
      trajectories: v.traj_index,
      anchors: v.anchor_obs,
    };
    const options = {
      gamma: v.gamma,
      stepWeight: v.step_advantage_w,
      normalizeByDeviation: v.mode === "mean_std_norm",
      epsilon: v.epsilon,
      ...(v.enable_similarity ? { similarity: v.similarity_thresh } : {}),
    };
    const found = giGpo(input, options);
    const once = giGpo(input, { ...options, episodeBaseline: "trajectory" });
    const masked = (values: readonly number[]) =>
      values.map((a, i) => (v.response_mask[i] as number[]).map((m) => a * m));
    return {
      step_returns: found.returns,
      groups: found.anchors,
      episode_advantages: masked(found.episode),
      episode_advantages_once_per_trajectory: masked(once.episode),
      step_advantages: masked(found.step),
      advantages: masked(found.sums.map(total)),
    };
  },
  fr3e_advantage: (v) =>
    fr3e(
      {
        rewards: v.token_level_rewards,
        mask: v.response_mask,
        states: v.index,
        bases: v.group_index,
      },
      {
        sharpen: v.sharpen,
        normalizeByDeviation: !v.adv_no_use_std,
        epsilon: v.epsilon,
        referenceNaN: true,
      },
    ),
};
