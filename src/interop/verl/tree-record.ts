import { z } from "#zod";
import { defined } from "../../../common/options/defined.js";
import { branchOf, decideBranch } from "../../rollout/rules/decide-branch.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { RolloutConfig } from "../../rollout/settings.js";
import type { Task } from "../../tasks/task.js";
import type { BranchAttempt, TreeNode } from "../../rollout/tree/tree-values.js";

const count = z.number().int();
const attempt = z.object({
  ...{ row: count, round: count, attempt: count, remaining: count },
  ...{ u: z.number(), entropy: z.number(), baseline: z.number() },
  consecutive: count.default(0),
  child: count.optional(),
});
const node = z.object({
  ...{ parent: count, row: count, round: count },
  kind: z.enum(["model", "tool", "end"]),
  tokens: z.array(count),
  text: z.string(),
  logprobs: z.array(z.number()).optional(),
  entropy: z.number().optional(),
  finish: z.enum(["stop", "end", "length"]).optional(),
  stop: z.string().optional(),
  tool: z
    .object({
      ...{ tag: z.string(), input: z.string(), text: z.string() },
      ...{ ok: z.boolean(), retries: count },
    })
    .nullish(),
  branch: z.array(attempt).optional(),
});
const row = z.object({
  ...{ row: count, round: count, parent: count, origin: count, leaf: count, calls: count },
  kind: z.enum(["initial", "branch", "refill"]),
  end: z.enum(["answer", "bad-call", "call-limit", "length"]),
});

/** A tree as the agent loop writes it down. */
export const treeRecord = z.object({
  ...{ uid: z.string(), step: count, index: count, seed: count, eos: count },
  pad: count.nullable(),
  measure: z.array(z.string()),
  monitor: z
    .object({
      ...{ rootEntropy: z.number(), stepEntropies: z.array(z.number()) },
      ...{ meanEntropy: z.number(), sigmoid: z.number(), share: z.number() },
      initialRollouts: count,
    })
    .nullish(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  ground_truth: z.union([z.string(), z.array(z.string())]).nullish(),
  data_source: z.string().nullish(),
  id: z.string().nullish(),
  /** The task's further fields, as JSON: a column has one type. */
  extra: z.string().nullish(),
  /** What a reward of ours said of each trajectory, where one scored it. */
  outcomes: z.array(z.looseObject({ score: z.number(), reason: z.string() })).nullish(),
  prompt: z.object({ text: z.string(), tokens: z.array(count) }),
  nodes: z.array(node),
  rows: z.array(row),
  cuts: z.array(z.string().nullable()),
});

/** @see {@link treeRecord} */
export type TreeRecord = z.infer<typeof treeRecord>;

/** The nodes in the order that a tree of ours numbers them: by trajectory, and along each trajectory. */
function numbered({ nodes, rows }: TreeRecord): Map<number, number> {
  const ids = new Map<number, number>([[-1, -1]]);
  for (const { leaf } of rows) {
    const fresh: number[] = [];
    for (let at = leaf; !ids.has(at); at = nodes[at]!.parent) fresh.push(at);
    for (const at of fresh.reverse()) ids.set(at, ids.size - 1);
  }
  return ids;
}

/**
 * A tree that grew in verl as one of ours; `scores` are those of its trajectories, as far as they are
 * known.
 */
export function treeOfRecord(
  record: TreeRecord,
  config: RolloutConfig,
  scores: ReadonlyMap<number, number>,
): RolloutTree<Task> {
  const ids = numbered(record);
  const attempts = (made: NonNullable<TreeRecord["nodes"][number]["branch"]>): BranchAttempt[] =>
    made.map(({ row, child, ...tried }) => ({
      ...tried,
      trajectory: row,
      ...decideBranch(branchOf(config), tried),
      ...defined({ child }),
    }));
  const nodes: TreeNode[] = [];
  for (const [from, id] of ids) {
    if (id < 0) continue;
    const { tokens, logprobs = [], tool, branch, parent, row, ...rest } = record.nodes[from]!;
    nodes[id] = {
      ...{ id, ...rest, trajectory: row, parent: ids.get(parent)! },
      tokens: Int32Array.from(tokens),
      logprobs: Float32Array.from(logprobs),
      // verl asks its server for the drawn token alone.
      entropies: new Float32Array(logprobs.length).fill(NaN),
      ...(tool ? { tool } : {}),
      ...(branch ? { branch: attempts(branch) } : {}),
    };
  }
  const { messages, prompt, seed, eos, pad, ground_truth: truth, data_source: source } = record;
  const task: Task = {
    id: record.id ?? `${record.index}`,
    dataSource: source ?? "verl",
    prompt: messages,
    extra: z.record(z.string(), z.unknown()).parse(JSON.parse(record.extra ?? "{}")),
    ...(truth === null || truth === undefined ? {} : { groundTruth: truth }),
  };
  const outcomeOf = (row: number) => ({
    ...(record.outcomes?.[row] ?? { reason: "verl's reward" }),
    score: scores.get(row)!,
  });
  return new RolloutTree<Task>({
    task,
    // All of a tree's draws come from its own seed and place 0.
    ...{ index: 0, policy: "verl 0.9.1", sampler: "remote" },
    prompt: { text: prompt.text, tokens: Int32Array.from(prompt.tokens) },
    nodes,
    trajectories: record.rows.map(({ row, origin, leaf, ...rest }) => ({
      ...rest,
      id: row,
      ...{ from: ids.get(origin)!, leaf: ids.get(leaf)! },
      ...(scores.has(row) ? { outcome: outcomeOf(row) } : {}),
    })),
    config: { ...config, seed },
    ...(record.monitor ? { monitor: record.monitor } : {}),
    ...{ eosIds: [eos], padId: pad ?? eos },
    cutTexts: Object.fromEntries(
      record.cuts.flatMap((text, i) => (text === null ? [] : [[i, text]])),
    ),
  });
}
