import { decideBranch, type BranchSettings, type BranchVerdict } from "../branch/branch-rule.js";
import { ConsecutivePenalty } from "../branch/consecutive-penalty.js";
import type { ReplayPlan } from "./plan.js";

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

/**
 * Decides every branch of a plan anew. Uses only `decideBranch` and `ConsecutivePenalty`, so that the
 * explorer's page can run this very function.
 */
export function followPlan(plan: ReplayPlan, changes: ReplayChanges): Replay {
  const { penalty: kind = plan.penalty, ...given } = changes;
  const settings: BranchSettings = { ...plan.settings, ...given };
  const penalty = new ConsecutivePenalty(1);
  const along = new Map<number, number>();
  const attempts: ReplayAttempt[] = [];
  const before = plan.rows.filter((row) => row.kind === "branch").length;
  const present = new Set(plan.rows.filter((r) => r.kind === "initial").map((r) => r.row));
  let used = present.size;
  let unseen = 0;

  for (let round = 0; round < plan.rounds; round++) {
    let gained = 0;
    const promptCount = penalty.count(0);
    // Rows are in the order of creation, which is the order in which a round looks at them.
    for (const step of plan.steps.filter((s) => s.round === round && present.has(s.row))) {
      const tries = Math.min(plan.attemptsPerRow, plan.n - used);
      const own = along.get(step.row) ?? 0;
      const children: number[] = [];
      let branched = false;
      for (let attempt = 0; attempt < tries; attempt++) {
        const { u, entropy, baseline, was, child } = step.attempts[attempt]!;
        const consecutive = kind === "path" ? own : promptCount;
        const situation = { u, entropy, baseline, consecutive };
        const verdict = decideBranch(settings, situation);
        const at = { node: step.node, row: step.row, round, attempt };
        attempts.push({ ...at, ...situation, remaining: plan.n - used, ...verdict, was });
        if (!verdict.branch) continue;
        branched = true;
        used++;
        gained++;
        if (child == null) unseen++;
        else children.push(child);
      }
      if (tries > 0) along.set(step.row, branched ? own + 1 : 0);
      for (const child of children) {
        present.add(child);
        along.set(child, own + 1);
      }
    }
    const refill = plan.rows.find((r) => r.kind === "refill" && r.round === round + 1);
    if (refill && used < plan.n) {
      present.add(refill.row);
      used++;
      gained++;
    }
    penalty.endRound(new Set(gained > 0 ? [0] : []));
  }
  const missing = plan.rows.filter((r) => !present.has(r.row)).map((r) => r.row);
  const branches = attempts.filter((a) => a.branch).length;
  return { settings, attempts, branches, before, unseen, missing };
}
