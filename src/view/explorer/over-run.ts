import { join } from "#platform/path";
import { ProgressLine } from "../../base/show/progress-line.js";
import { watchAs } from "../../base/show/show-as.js";
import type { ModelPolicy } from "../../policy/policy-from-model.js";
import { segmentEntropy } from "../../rollout/branch/segment-entropy.js";
import { planReplay } from "../../rollout/replay/plan.js";
import { attemptRuleNamed } from "../../rollout/rules/registry.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { TreeNode } from "../../rollout/tree/tree-values.js";
import { RunFolder } from "../../run/folder/run-folder.js";
import { tf } from "../../tensor/tf.js";
import { spreadOut } from "../page/spread-out.js";
import type { OverOptions } from "./over-options.js";
import type { ExplorerPayload, PackedPolicies } from "./payload.js";
import { ScoredAgain, tokensTo } from "./score-again.js";

/** A tree and its payload, which the run's policies are added to. */
export interface TreeToScore {
  tree: RolloutTree;
  payload: ExplorerPayload;
}

const refuse = (rule: string): never => {
  throw new RangeError(`Cannot explore a tree over a run: ${rule}`);
};

/** Bytes of a token under one policy: its entropy and its -ln p. */
const bytesOfToken = 4;

/** The run's checkpoints that are looked at, in order, and what was left out. */
async function checkpointsOf(run: RunFolder, most: number) {
  const all = await run.checkpoints();
  if (all.length < 2) {
    const have = all.length === 0 ? "none" : `step ${all[0]} alone`;
    refuse(
      `${run.path} must keep at least 2 checkpoints, got ${have}; train with trainer.save_freq=10 and trainer.max_actor_ckpt_to_keep=null`,
    );
  }
  const steps = spreadOut(all)
    .slice(0, most)
    .sort((a, b) => a - b);
  const note =
    steps.length < all.length
      ? { note: `${steps.length} of the run's ${all.length} checkpoints` }
      : {};
  return { steps, ...note };
}

/** The policy of a checkpoint; a tree of another vocabulary or a longer context is refused. */
async function policyAt(run: RunFolder, step: number, trees: readonly TreeToScore[]) {
  const { loadPolicy } = await import("../../policy/policy-from-model.js");
  const policy = await loadPolicy(join(run.checkpointPath(step), "actor"), {
    name: `step ${step}`,
  });
  const { vocabSize } = policy.model.config;
  for (const { tree } of trees) {
    const highest = tree.nodes.reduce(
      (most, { tokens }) => tokens.reduce((a, b) => Math.max(a, b), most),
      0,
    );
    const ends: number[] = [];
    for (const { parent, tokens } of tree.nodes) ends.push((ends[parent] ?? 0) + tokens.length);
    const longest = ends.reduce((most, end) => Math.max(most, end), 0);
    const [need, has] = [tree.prompt.tokens.length + longest, policy.contextLength];
    if (highest < vocabSize && need <= has) continue;
    policy.dispose();
    if (highest >= vocabSize)
      refuse(
        `the tree's tokens must be of the run's vocabulary of ${vocabSize}, got token ${highest}`,
      );
    refuse(`the tree must fit into the run's context of ${has} tokens, got ${need}`);
  }
  return policy;
}

/** A segment's entropy as the branching rule sees it, had this policy written it. */
async function entropyUnder(
  { model, tokenizer }: ModelPolicy,
  tree: RolloutTree,
  { id, tokens, top }: TreeNode,
): Promise<number> {
  const { entropy, sampling } = tree.config;
  const count = Math.min(entropy.positions, tokens.length);
  if (count === 0) return 0;
  const sequence = tokensTo(tree, id, count);
  const after = Array.from({ length: count }, (_, t) => sequence.length - count + t - 1);
  const all = tf.tidy(() =>
    model.distributionsAt(model.batch([sequence]), tf.tensor1d(after, "int32"), {
      temperature: sampling.temperature,
    }),
  );
  const width = Math.min(top?.width ?? entropy.topK, all.shape[1]);
  const most = tf.topk(all, Math.max(1, width));
  const [every, ids, logprobs] = await Promise.all([
    all.data(),
    most.indices.data(),
    most.values.data(),
  ]);
  tf.dispose([all, most.indices, most.values]);
  const vocabulary = every.length / count;
  const written = tokens.slice(0, count);
  const said = {
    tokens: written,
    logprobs: Float32Array.from(written, (token, t) => every[t * vocabulary + token]!),
    entropies: Float32Array.from({ length: count }, (_, t) => {
      let sum = 0;
      for (let i = t * vocabulary; i < (t + 1) * vocabulary; i++)
        if (every[i]! > -Infinity) sum -= Math.exp(every[i]!) * every[i]!;
      return sum;
    }),
    top: { width, ids: ids as Int32Array, logprobs: logprobs as Float32Array },
  };
  return segmentEntropy(said, tokenizer.vocabSize, entropy);
}

/** Entropy and baseline of each planned step of a rollout, had this policy written it; none where no draw decides. */
async function decidedBy(policy: ModelPolicy, tree: RolloutTree): Promise<number[]> {
  if (!attemptRuleNamed(tree.config.rule as string)) return [];
  const nodes: TreeNode[] = [];
  for (const node of tree.nodes) {
    const now = { ...node };
    // What was decided then is not asked for: the plan says what a step of the tree is decided by.
    delete now.branch;
    if (node.entropy !== undefined) now.entropy = await entropyUnder(policy, tree, node);
    nodes.push(now);
  }
  const { steps } = planReplay({ ...tree, nodes }, 1);
  return steps.flatMap(({ attempts }) => [attempts[0]!.entropy, attempts[0]!.baseline]);
}

/** Whether what the tree says of its own tokens can be compared with what a model says of them. */
function saysItself({ nodes }: RolloutTree): boolean {
  const isKnown = ({ logprobs, entropies }: TreeNode) =>
    logprobs.every(Number.isFinite) &&
    entropies.length === logprobs.length &&
    entropies.every(Number.isFinite);
  return nodes.every((node) => node.kind !== "model" || isKnown(node));
}

/** Scores trees under the checkpoints of a run, and puts what they say into the payloads. */
export async function scoreOver(
  trees: readonly TreeToScore[],
  { over, checkpoints = 12, overBytes = 2_000_000 }: OverOptions,
): Promise<void> {
  const run = typeof over === "string" ? await RunFolder.existing(over) : over;
  const tokens = trees.reduce(
    (sum, { tree }) => sum + tree.nodes.reduce((all, node) => all + node.tokens.length, 0),
    0,
  );
  const fitting = Math.floor(overBytes / (bytesOfToken * Math.max(1, tokens)));
  const { steps, note } = await checkpointsOf(run, Math.max(2, Math.min(checkpoints, fitting)));
  const said = trees.map(({ tree, payload }) => {
    const again = new ScoredAgain(tree, payload);
    const isKnown = saysItself(tree);
    if (isKnown) again.addOwn();
    return { again, decided: [] as number[][], isKnown };
  });
  const live = watchAs("Work", { after: "this checkpoint" });
  const line = new ProgressLine();
  try {
    for (const [i, step] of steps.entries()) {
      live?.tell?.(line.count("scoring under the checkpoints", i, steps.length), {
        share: i / steps.length,
      });
      const policy = await policyAt(run, step, trees);
      try {
        for (const [t, { tree }] of trees.entries()) {
          await said[t]!.again.add(policy);
          said[t]!.decided.push(await decidedBy(policy, tree));
        }
      } finally {
        policy.dispose();
      }
    }
  } finally {
    live?.done();
  }
  trees.forEach(({ payload }, t) => {
    const { again, decided, isKnown } = said[t]!;
    const policies: PackedPolicies = {
      ...again.pack(),
      steps: isKnown ? [-1, ...steps] : steps,
      decided: isKnown ? [[], ...decided] : decided,
      ...(note === undefined ? {} : { note }),
    };
    payload.policies = policies;
  });
}
