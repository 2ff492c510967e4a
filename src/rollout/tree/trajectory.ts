import { checkArguments } from "../../../common/options/check-arguments.js";
import type { Author, AuthoredText } from "../../base/text/authored-text.js";
import type { Sampler } from "../../policy/policy.js";
import { type Support, SupportList } from "../../policy/token-sets.js";
import { noteDrawnTrajectory } from "./drawn-by.js";
import { pathOf, type RolloutTreeData } from "./tree-data.js";
import type { NodeTool, TreeNode, TreeTrajectory } from "./tree-values.js";

/**
 * Which positions of a right-padded response are attended: 1 up to and including the first end token that the model
 * or the rules wrote. An end token in a tool's result ends nothing; without `written` all are the model's.
 *
 * Without an end token the reference attends to every position, padding included, and so places the
 * reward on the last padding token. `length`, the number of real tokens, ends attention there instead.
 */
export function responseAttention(
  padded: ArrayLike<number>,
  eosIds: readonly number[],
  length: number = padded?.length,
  written?: ArrayLike<number>,
): Uint8Array {
  const mask = new Uint8Array(padded.length);
  for (let i = 0; i < length; i++) {
    mask[i] = 1;
    if (eosIds.includes(padded[i]!) && written?.[i] !== 0) break;
  }
  return mask;
}

/**
 * Which positions are trained on: those the model wrote and attention reaches.
 *
 * @param written 1 where the model wrote the token
 * @param attention 1 where attention reaches the token
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lossMask } from "arpo-lab/rollout";
 *
 * assert.deepEqual([...lossMask([1, 0, 0, 1], [1, 1, 1, 0])], [1, 0, 0, 0]);
 * ```
 */
export function lossMask(written: ArrayLike<number>, attention: ArrayLike<number>): Uint8Array {
  checkArguments("make a mask", { written, attention }, { written: "list", attention: "list" });
  return Uint8Array.from({ length: attention.length }, (_, i) =>
    written[i] === 1 && attention[i] === 1 ? 1 : 0,
  );
}

/** A path from the prompt to a leaf, as training reads it. Everything but the prompt is the response. */
export interface Trajectory extends TreeTrajectory {
  /** The tree's place in its batch. */
  tree: number;
  /** The nodes of the response, in order. */
  nodes: number[];
  prompt: Int32Array;
  /** The response, cut to the response length. */
  tokens: Int32Array;
  /** The response without special tokens. */
  text: string;
  /** The same text in pieces with who wrote each; rewards and views read this. Absent only where made by hand. */
  parts?: readonly AuthoredText[];
  /** 1 where the model wrote, 0 where a tool answered (the reference's result mask). */
  written: Uint8Array;
  /** 1 up to the first end token that the model wrote. */
  attention: Uint8Array;
  /** 1 where the policy is trained: `written` and `attention`, and a constraint allowed more than one token. */
  lossMask: Uint8Array;
  /** How what sampled differs from the model that trains; absent where it is that model. */
  sampler?: Sampler;
  /** ln p when sampled; NaN where the model did not sample. */
  logprobs: Float32Array;
  /** Full-distribution entropy in nats; NaN where the model did not sample. */
  entropies: Float32Array;
  /** What each token was sampled from, where the sampler cut the vocabulary and said so. */
  support?: Support;
  /** How many updates the policy had been through that sampled each token; -1: unknown, or not sampled. Absent where nobody said. */
  versions?: Int32Array;
  /** The calls made on this path. */
  toolCalls: NodeTool[];
}

/** What a tree's plain data holds of a trajectory: everything that its nodes do not tell. */
export function plainTrajectory(trajectory: TreeTrajectory): TreeTrajectory {
  const { id, kind, round, parent, from, leaf, end, calls, outcome, chosen } = trajectory;
  const plain = { id, kind, round, parent, from, leaf, end, calls };
  return { ...plain, ...(outcome ? { outcome } : {}), ...(chosen ? { chosen } : {}) };
}

/** Who wrote a node. */
export function authorOf(
  { environment }: Pick<RolloutTreeData, "environment">,
  { kind, tool }: Pick<TreeNode, "kind" | "tool">,
): Author {
  if (kind === "model") return "model";
  if (kind === "end") return "template";
  return tool && environment?.tools.includes(tool.tag) ? "environment" : "tool";
}

/** One trajectory of a tree, with its tokens. */
export function trajectoryOf(tree: RolloutTreeData, trajectory: number): Trajectory {
  const plain = plainTrajectory(tree.trajectories[trajectory]!);
  const path = pathOf(tree, plain.leaf);
  const limit = tree.config.responseLength;
  const total = path.reduce((sum, node) => sum + node.tokens.length, 0);
  const length = Math.min(limit, total);
  const tokens = new Int32Array(length);
  const written = new Uint8Array(length);
  const logprobs = new Float32Array(length).fill(NaN);
  const entropies = new Float32Array(length).fill(NaN);
  const supports = new SupportList();
  const told = tree.version !== undefined || path.some(({ versions }) => versions !== undefined);
  const versions = told ? new Int32Array(length).fill(-1) : undefined;
  let at = 0;
  const parts: AuthoredText[] = [];
  for (const node of path) {
    const count = Math.min(node.tokens.length, length - at);
    tokens.set(node.tokens.subarray(0, count), at);
    if (node.kind !== "tool") written.fill(1, at, at + count);
    if (node.kind === "model") {
      logprobs.set(node.logprobs.subarray(0, count), at);
      entropies.set(node.entropies.subarray(0, count), at);
      if (node.versions) versions!.set(node.versions.subarray(0, count), at);
      else versions?.fill(tree.version ?? -1, at, at + count);
    }
    supports.add(node.kind === "model" ? node.support : undefined, 0, count);
    const text = count < node.tokens.length ? (tree.cutTexts[trajectory] ?? "") : node.text;
    parts.push({ by: authorOf(tree, node), text });
    at += count;
    if (count < node.tokens.length) break;
  }
  const attention = responseAttention(tokens, tree.eosIds, length, written);
  const support = supports.value();
  noteDrawnTrajectory(tree, logprobs);
  const trained = lossMask(written, attention);
  // Where a constraint left one token, the policy chose nothing.
  support?.given?.forEach((given, t) => (trained[t] &&= 1 - given));
  return {
    ...plain,
    tree: tree.index,
    nodes: path.map((node) => node.id),
    prompt: tree.prompt.tokens,
    tokens,
    text: parts.map((part) => part.text).join(""),
    parts,
    written,
    attention,
    lossMask: trained,
    ...(tree.sampler ? { sampler: tree.sampler } : {}),
    logprobs,
    entropies,
    ...(support ? { support } : {}),
    ...(versions ? { versions } : {}),
    toolCalls: path.flatMap((node) => (node.tool ? [node.tool] : [])),
  };
}
