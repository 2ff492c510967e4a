import { decideBranch, type BranchSettings, type BranchVerdict } from "./branch-rule.js";
import { ConsecutivePenalty } from "./consecutive-penalty.js";
import type { RolloutTree } from "./rollout-tree.js";
import { treeRandom } from "./tree-random.js";
import type { TreeNode } from "./tree-values.js";

/** What `replay` may change. In brackets the names in `RolloutOptions`. */
export interface ReplayChanges extends Partial<BranchSettings> {
  /** How consecutive branchings are counted. */
  penalty?: "prompt" | "path";
}

/** One attempt as it would have gone. */
export interface ReplayAttempt extends BranchVerdict {
  /** The node it stands after. */
  node: number;
  row: number;
  round: number;
  attempt: number;
  u: number;
  entropy: number;
  baseline: number;
  consecutive: number;
  remaining: number;
  /** What was decided when the tree was made; undefined if nothing was tried here. */
  was: boolean | undefined;
}

/** What another setting would have done with the same tree and the same draws. */
export interface Replay {
  settings: BranchSettings;
  attempts: ReplayAttempt[];
  /** Branches it would have made, and those the tree has. */
  branches: number;
  before: number;
  /** Branches it would have made whose rows the tree does not have: their later rounds are unknown. */
  unseen: number;
  /** Rows of the tree that would not exist. */
  missing: number[];
}

/** Replays the branch decisions of a tree under other settings. */
export function replayBranches(tree: RolloutTree, changes: ReplayChanges): Replay {
  const { penalty: kind = tree.config.penalty, ...given } = changes;
  const settings: BranchSettings = { ...tree.config.branch, ...given };
  const steps = stepsOf(tree);
  const draws = treeRandom(tree).split("branch");
  const penalty = new ConsecutivePenalty(1);
  const along = new Map<number, number>();
  const attempts: ReplayAttempt[] = [];
  const before = tree.rows.filter((row) => row.kind === "branch").length;
  const present = new Set(tree.rows.filter((r) => r.kind === "initial").map((r) => r.row));
  let used = present.size;
  let unseen = 0;

  const rounds = 1 + tree.nodes.reduce((most, node) => Math.max(most, node.round), -1);
  for (let round = 0; round < rounds; round++) {
    let gained = 0;
    const promptCount = penalty.count(0);
    // Rows are in the order of creation, which is the order in which a round looks at them.
    for (const step of steps.filter((s) => s.round === round && present.has(s.row))) {
      const tries = Math.min(tree.config.attemptsPerRow, tree.config.n - used);
      const own = along.get(step.row) ?? 0;
      const children: number[] = [];
      let branched = false;
      for (let attempt = 0; attempt < tries; attempt++) {
        const made = step.node.branch?.find((b) => b.round === round && b.attempt === attempt);
        const u = made?.u ?? draws.split(step.row).split(round).at(attempt);
        const { entropy, baseline } = made ?? step;
        const consecutive = kind === "path" ? own : promptCount;
        const situation = { u, entropy, baseline, consecutive };
        const verdict = decideBranch(settings, situation);
        const at = { node: step.node.id, row: step.row, round, attempt };
        const remaining = tree.config.n - used;
        attempts.push({ ...at, ...situation, remaining, ...verdict, was: made?.branch });
        if (!verdict.branch) continue;
        branched = true;
        used++;
        gained++;
        if (made?.child === undefined) unseen++;
        else children.push(made.child);
      }
      if (tries > 0) along.set(step.row, branched ? own + 1 : 0);
      for (const child of children) {
        present.add(child);
        along.set(child, own + 1);
      }
    }
    const refill = tree.rows.find((r) => r.kind === "refill" && r.round === round + 1);
    if (refill && used < tree.config.n) {
      present.add(refill.row);
      used++;
      gained++;
    }
    penalty.endRound(new Set(gained > 0 ? [0] : []));
  }
  const missing = tree.rows.filter((r) => !present.has(r.row)).map((r) => r.row);
  const branches = attempts.filter((a) => a.branch).length;
  return { settings, attempts, branches, before, unseen, missing };
}

/** Every point where a row went on to a further round, by round and row. */
function stepsOf(tree: RolloutTree) {
  const steps: {
    row: number;
    round: number;
    node: TreeNode;
    entropy: number;
    baseline: number;
  }[] = [];
  const baselines = new Map<number, number>();
  for (const { row, parent } of tree.rows) {
    const own = tree.nodes.filter((node) => node.row === row);
    const written = own.filter((node) => node.kind === "model");
    const inherited = tree.config.baseline === "trajectory" ? baselines.get(parent) : undefined;
    const baseline = inherited ?? written[0]?.entropy ?? 0;
    baselines.set(row, baseline);
    for (const [i, model] of written.entries()) {
      const next = written[i + 1];
      if (!next) break;
      const { round } = model;
      const node = own.filter((n) => n.round === round).at(-1)!;
      // Looking ahead, the paper's timing sees the tokens that the row then wrote.
      const seen = tree.config.entropyTiming === "after-result" ? next : model;
      steps.push({ row, round, node, entropy: seen.entropy ?? 0, baseline });
    }
  }
  return steps;
}
