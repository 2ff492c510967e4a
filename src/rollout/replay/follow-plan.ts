import { defined } from "../../../common/options/defined.js";
import { decideBranch, type BranchSettings } from "../rules/decide-branch.js";
import { ConsecutivePenalty } from "../branch/consecutive-penalty.js";
import type { ReplayPlan } from "./plan.js";
import type { Replay, ReplayAttempt, ReplayPoint } from "./replay-result.js";

/** What `replay` may change. In brackets the names in `RolloutOptions`. */
export interface ReplayChanges extends Partial<BranchSettings> {
  /** How consecutive branchings are counted. */
  penalty?: "prompt" | "path";
}

/**
 * Decides every branch of a plan anew. Uses only `decideBranch` and `ConsecutivePenalty`, so that the
 * explorer's page can run this very function.
 */
export function followPlan(plan: ReplayPlan, changes: ReplayChanges): Replay {
  const { penalty: kind = plan.penalty, ...given } = changes;
  const settings: BranchSettings = { ...plan.settings, ...defined(given) };
  const penalty = new ConsecutivePenalty(1);
  const along = new Map<number, number>();
  const attempts: ReplayAttempt[] = [];
  const points: ReplayPoint[] = [];
  const before = plan.trajectories.filter((trajectory) => trajectory.kind === "branch").length;
  const present = new Set(plan.trajectories.filter((r) => r.kind === "initial").map((r) => r.id));
  let used = present.size;
  let unseen = 0;

  for (let round = 0; round < plan.rounds; round++) {
    let gained = 0;
    const promptCount = penalty.count(0);
    // Trajectories are in the order of creation, which is the order in which a round looks at them.
    for (const step of plan.steps.filter((s) => s.round === round && present.has(s.trajectory))) {
      const tries = Math.min(plan.attemptsPerTrajectory, plan.n - used);
      const own = along.get(step.trajectory) ?? 0;
      const children: number[] = [];
      let branched = false;
      for (let attempt = 0; attempt < tries; attempt++) {
        const { u, entropy, baseline, was, child } = step.attempts[attempt]!;
        const consecutive = kind === "path" ? own : promptCount;
        const situation = { u, entropy, baseline, consecutive };
        const verdict = decideBranch(settings, situation);
        const at = { node: step.node, trajectory: step.trajectory, round, attempt };
        attempts.push({ ...at, ...situation, remaining: plan.n - used, ...verdict, was });
        if (!verdict.branch) continue;
        branched = true;
        const order = gained++;
        used++;
        const { trajectory, at: place } = step;
        const point = { round, order, trajectory, at: place, score: verdict.score };
        points.push(child == null ? point : { ...point, child });
        if (child == null) unseen++;
        else children.push(child);
      }
      if (tries > 0) along.set(step.trajectory, branched ? own + 1 : 0);
      for (const child of children) {
        present.add(child);
        along.set(child, own + 1);
      }
    }
    const refill = plan.trajectories.find((r) => r.kind === "refill" && r.round === round + 1);
    if (refill && used < plan.n) {
      present.add(refill.id);
      used++;
      gained++;
    }
    penalty.endRound(new Set(gained > 0 ? [0] : []));
  }
  const missing = plan.trajectories.filter((r) => !present.has(r.id)).map((r) => r.id);
  const branches = attempts.filter((a) => a.branch).length;
  return { settings, attempts, points, branches, before, unseen, missing };
}
