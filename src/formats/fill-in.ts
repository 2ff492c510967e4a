import { checkArguments } from "../../common/options/check-arguments.js";
import {
  checkOptions,
  fromTo,
  type OptionRules,
  positive,
} from "../../common/options/check-options.js";
import { passLogProbs, gatherFrom, splitByTokens } from "../learn/update/passes.js";
import type { Policy } from "../policy/policy.js";
import { ModelPolicy } from "../policy/policy-from-model.js";
import { RolloutTree } from "../rollout/rollout-tree.js";
import type { RolloutTask } from "../rollout/task.js";
import { trajectoryOf } from "../rollout/tree/trajectory.js";
import { pathOf } from "../rollout/tree/tree-data.js";
import type { TreeNode } from "../rollout/tree/tree-values.js";
import { tf } from "../tensor/tf.js";
import type { Carried } from "./carried.js";
import { meanEntropy } from "./trees/tree-of-rows.js";
import { ImportedRollouts } from "./imported-rollouts.js";

/** How trees are scored under a policy. */
export interface FillOptions {
  /** The logits are divided by this, as when it sampled. Default 1. */
  temperature?: number;
  /** Also where the file has numbers of its own. Default false. */
  replace?: boolean;
  /** Tokens that go through the model at once. Default 4,096. */
  maxTokensPerPass?: number;
  onProgress?: (done: number, of: number) => void;
  signal?: AbortSignal;
}

const rules: OptionRules<FillOptions> = {
  temperature: positive,
  replace: "boolean?",
  maxTokensPerPass: fromTo(1, Infinity),
  onProgress: "function?",
  signal: "signal?",
};

const lacks = (values: Float32Array, count: number) =>
  values.length < count || values.some((value) => Number.isNaN(value));

/** Whether a tree has model's tokens without numbers. */
const incomplete = ({ nodes }: RolloutTree): boolean =>
  nodes.some(
    ({ kind, tokens, logprobs, entropies }) =>
      kind === "model" && (lacks(logprobs, tokens.length) || lacks(entropies, tokens.length)),
  );

/** What is there stays; what is not is taken from the model. */
function filled(own: Float32Array, found: Float32Array, replace: boolean): Float32Array {
  if (replace || own.length !== found.length) return found;
  return own.map((value, i) => (Number.isNaN(value) ? found[i]! : value));
}

function checkIds(tree: RolloutTree, policy: ModelPolicy): void {
  const { vocabSize } = policy.model.config;
  const lists = [tree.prompt.tokens, ...tree.nodes.map(({ tokens }) => tokens)];
  const most = lists.reduce((high, list) => list.reduce((a, b) => Math.max(a, b), high), -1);
  if (most < vocabSize) return;
  throw new RangeError(
    `Cannot fill in: the tree's tokens must be of the policy's vocabulary of ${vocabSize}, got ${most}; import with { policy } to have the text tokenised by it`,
  );
}

/** Runs a tree's trajectories through the model and gives its nodes what it says of their tokens. */
async function fillTree<T extends RolloutTask>(
  tree: RolloutTree<T>,
  policy: ModelPolicy,
  options: FillOptions,
): Promise<RolloutTree<T>> {
  const { temperature = 1, replace = false, maxTokensPerPass = 4096 } = options;
  checkIds(tree as unknown as RolloutTree, policy);
  const capacity = policy.contextLength - tree.prompt.tokens.length;
  const rows = tree.trajectories
    .map(({ id: row }) => trajectoryOf(tree, row))
    .filter(({ tokens }) => tokens.length > 0)
    // What is beyond the model's context stays unknown.
    .map((trajectory) => ({
      trajectory: { ...trajectory, tokens: trajectory.tokens.subarray(0, Math.max(0, capacity)) },
    }));
  const found = new Map<number, Pick<TreeNode, "logprobs" | "entropies">>();
  // Without a token before it, the first one was never predicted.
  const blind = tree.prompt.tokens.length === 0;
  for (const group of blind || capacity <= 0 ? [] : splitByTokens(rows, { maxTokensPerPass })) {
    options.signal?.throwIfAborted();
    const passed = tf.tidy(() => {
      const made = passLogProbs(policy.model, group, { temperature, shared: true });
      return [made.logprobs, made.entropies] as const;
    });
    const logprobs = gatherFrom(group, (await passed[0].data()) as Float32Array);
    const entropies = gatherFrom(group, (await passed[1].data()) as Float32Array);
    tf.dispose([...passed]);
    for (const [i, { trajectory }] of group.entries()) {
      let at = 0;
      for (const { id, kind, tokens } of pathOf(tree, tree.trajectories[trajectory.id]!.leaf)) {
        const to = at + tokens.length;
        if (kind === "model" && !found.has(id)) {
          const own = (values: Float32Array) => {
            const all = new Float32Array(tokens.length).fill(NaN);
            all.set(values.subarray(at, Math.min(to, values.length)));
            return all;
          };
          found.set(id, { logprobs: own(logprobs[i]!), entropies: own(entropies[i]!) });
        }
        at = to;
      }
    }
  }
  const nodes = tree.nodes.map((node): TreeNode => {
    const seen = found.get(node.id);
    if (!seen) return node;
    const entropies = filled(node.entropies, seen.entropies, replace);
    const logprobs = filled(node.logprobs, seen.logprobs, replace);
    // What a branching rule saw of a segment stays.
    return {
      ...node,
      logprobs,
      entropies,
      ...(node.entropy === undefined ? meanEntropy(entropies) : {}),
    };
  });
  const { sampler, ...rest } = tree;
  const said = tree.nodes.some(({ logprobs }) => logprobs.some((p) => Number.isFinite(p)));
  // What is filled in throughout is this policy's own word: there is no sampler's to compare it with.
  const told = said && !replace && sampler ? { sampler } : {};
  return new RolloutTree({ ...rest, ...told, nodes }, { policy, options: {} });
}

function sayFilled(carried: readonly Carried[], policy: Policy, replace: boolean): Carried[] {
  return carried.map((one) => {
    if (one.quantity !== "log-probs" && one.quantity !== "entropies") return one;
    const under = `filled in by scoring under ${policy.name}`;
    if (one.carried === "none" || replace) return { ...one, from: under };
    return one.carried === "all" ? one : { ...one, from: `${one.from}; the rest ${under}` };
  });
}

/**
 * Log-probabilities and entropies of every token a model wrote, as a policy sees them: the trajectories run
 * through its model, nothing is sampled. For trees of files that do not carry them; what a file has stays
 * unless `replace` says otherwise. The trees can be forked with the policy afterwards.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fillIn, readRollouts } from "arpo-lab/experimental/import";
 * import { HfTokenizer, Model } from "arpo-lab/model";
 * import { trainBpe } from "arpo-lab/experimental/formats";
 * import { Policy } from "arpo-lab/policy";
 *
 * const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
 * const sizes = { hiddenSize: 16, intermediateSize: 32, layers: 1, heads: 2 };
 * const policy = Policy.fromModel(Model.init({ ...sizes, vocabSize: tokenizer.vocabSize }, 7), tokenizer);
 * const imported = readRollouts([{ input: "low", output: "lower", score: 1, step: 0 }], { policy });
 * const [tree] = (await fillIn(imported, policy)).trees;
 * assert.ok(tree.nodes[0].entropies.every((entropy) => entropy > 5), "an untrained model is unsure");
 * policy.dispose();
 * ```
 */
export async function fillIn(
  imported: ImportedRollouts,
  policy: Policy,
  options?: FillOptions,
): Promise<ImportedRollouts>;
export async function fillIn<T extends RolloutTask>(
  trees: readonly RolloutTree<T>[],
  policy: Policy,
  options?: FillOptions,
): Promise<RolloutTree<T>[]>;
export async function fillIn<T extends RolloutTask>(
  given: ImportedRollouts | readonly RolloutTree<T>[],
  policy: Policy,
  options: FillOptions = {},
): Promise<ImportedRollouts | RolloutTree<T>[]> {
  checkArguments("fill in", { given, policy }, { given: "items", policy: "policy" });
  checkOptions("fill in", options, rules);
  if (!(policy instanceof ModelPolicy)) {
    throw new TypeError(
      `Cannot fill in: the policy must have a model on this machine in float32, got ${policy.name}`,
    );
  }
  const { replace = false, onProgress } = options;
  const fillAll = async <K extends RolloutTask>(trees: readonly RolloutTree<K>[]) => {
    const out: RolloutTree<K>[] = [];
    for (const tree of trees) {
      const needed = replace || incomplete(tree as unknown as RolloutTree);
      out.push(needed ? await fillTree(tree, policy, options) : tree);
      onProgress?.(out.length, trees.length);
    }
    return out;
  };
  if (!(given instanceof ImportedRollouts)) return fillAll([...given]);
  const read = given.tokenizer === policy.tokenizer ? given : retokenised(given, policy);
  const trees = await fillAll(read.trees);
  const parts = read.parts;
  return new ImportedRollouts(
    { ...parts, policy, carried: sayFilled(parts.carried, policy, replace) },
    trees,
  );
}

/** The same trajectories with the policy's tokens; ids that a file has stay what they are. */
function retokenised(imported: ImportedRollouts, policy: Policy): ImportedRollouts {
  const { parts } = imported;
  const name = `the tokenizer of ${policy.name}`;
  return new ImportedRollouts({
    ...parts,
    policy,
    tokenizer: { name, tokenizer: policy.tokenizer, readsIds: true },
    carried: parts.carried.map((one) =>
      one.quantity === "tokens" && one.carried !== "all"
        ? { ...one, from: `text, tokenised by ${name}` }
        : one,
    ),
  });
}
