import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { checkTree } from "./check-tree.js";
import { currentConfig } from "./current-config.js";
import { exactFloats, fromExactJson, toExactJson } from "./exact-json.js";
import { RolloutTree } from "../rollout-tree.js";
import { plainTrajectory } from "../tree/trajectory.js";
import type { RolloutTreeData } from "../tree/tree-data.js";
import type { RolloutTask } from "../task.js";
import type { Support } from "../../policy/token-sets.js";
import type { TreeNode } from "../tree/tree-values.js";

/** The plain data of a tree; without `timing` what two runs of one seed have in common. */
export function treeData<T extends RolloutTask>(
  tree: RolloutTree<T>,
  timing: boolean,
): RolloutTreeData<T> {
  const { nodes, trajectories } = tree;
  return {
    ...tree,
    nodes: nodes.map((node) => inOrder(node, timing)),
    trajectories: trajectories.map(plainTrajectory),
  };
}

/** The same keys in the same order, whichever way a node came about. */
function inOrder(node: TreeNode, timing: boolean): TreeNode {
  const { id, parent, kind, trajectory, round, text, tokens, logprobs, entropies, top } = node;
  const { support, versions } = node;
  const { entropy, finish, stop, tool, branch, run } = node;
  const told = { entropy, finish, stop, tool, branch };
  const lists = { tokens, logprobs, entropies, top, support, versions };
  return {
    id,
    parent,
    kind,
    trajectory,
    round,
    text,
    ...told,
    ...lists,
    run: timing ? run : undefined,
  };
}

type Loose = Omit<TreeNode, "tokens" | "logprobs" | "entropies" | "top" | "support" | "versions"> &
  Record<"tokens" | "logprobs" | "entropies", number[]> & {
    top?: { width: number; ids: number[]; logprobs: number[] };
    support?: { offsets: number[]; ids: number[]; logprobs: number[]; given?: number[] };
    versions?: number[];
  };

/** A support whose lists are plain, with its typed arrays. */
export const tightSupport = ({
  offsets,
  ids,
  logprobs,
  given,
}: NonNullable<Loose["support"]>): Support => ({
  offsets: Int32Array.from(offsets),
  ids: Int32Array.from(ids),
  logprobs: exactFloats(logprobs),
  ...(given ? { given: Uint8Array.from(given) } : {}),
});

/** A node whose lists are plain, with its typed arrays. */
export function tightNode(loose: Loose): TreeNode {
  const { tokens, logprobs, entropies, top, support, versions, ...rest } = loose;
  const node: TreeNode = {
    ...rest,
    tokens: Int32Array.from(tokens),
    logprobs: exactFloats(logprobs),
    entropies: exactFloats(entropies),
  };
  if (top) {
    const { width, ids } = top;
    node.top = { width, ids: Int32Array.from(ids), logprobs: exactFloats(top.logprobs) };
  }
  if (support) node.support = tightSupport(support);
  if (versions) node.versions = Int32Array.from(versions);
  return node;
}

/** Trees written before 0.1.0 have `rows` where `trajectories` are today. */
export function refuseOldTree(data: object): void {
  if (!("rows" in data) || "trajectories" in data) return;
  throw new RangeError(
    "Cannot read a tree: its field must be trajectories, got rows, which development versions before 0.1.0 wrote; run the rollout again",
  );
}

/**
 * Trees as JSON lines, one per tree, without loss.
 *
 * With `timing: false` measured times are left out, and the same seed gives the same bytes.
 */
export function treesToJsonl(
  trees: Iterable<RolloutTree>,
  options: { timing?: boolean } = {},
): string {
  checkArguments("write trees", { trees }, { trees: "items" });
  checkOptions("write trees", options, { timing: "boolean?" });
  const { timing = true } = options;
  let text = "";
  for (const tree of trees) text += `${toExactJson(treeData(tree, timing))}\n`;
  return text;
}

/** Reads what `treesToJsonl` wrote. */
export function treesFromJsonl<T extends RolloutTask = RolloutTask>(
  text: string,
): RolloutTree<T>[] {
  checkArguments("read trees", { text }, { text: "text" });
  const trees: RolloutTree<T>[] = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    let data: RolloutTreeData<T> | undefined;
    let cause: unknown;
    try {
      data = fromExactJson(line) as RolloutTreeData<T>;
    } catch (error) {
      cause = error;
    }
    if (data) refuseOldTree(data);
    if (!Array.isArray(data?.nodes) || !Array.isArray(data.trajectories)) {
      throw new SyntaxError(
        `Cannot read a tree: line ${i + 1} must be one tree as JSON, got ${JSON.stringify(line.slice(0, 60))}`,
        { cause },
      );
    }
    checkTree(data as unknown as Record<string, unknown>, `line ${i + 1}`);
    const nodes = (data.nodes as unknown as Loose[]).map(tightNode);
    const prompt = { ...data.prompt, tokens: Int32Array.from(data.prompt.tokens) };
    trees.push(new RolloutTree({ ...data, nodes, prompt, config: currentConfig(data.config) }));
  }
  return trees;
}
