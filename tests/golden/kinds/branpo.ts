import { branpo } from "../../../src/learn/estimators/branpo.js";
import { branpoPreference, branpoSearch } from "../../../src/rollout/rules/branpo.js";
import type { Runners } from "../runner.js";

// Inputs are described in the files themselves.
/* eslint-disable @typescript-eslint/no-explicit-any */

/** BranPO's search, told how each attempt ends. */
function branpoTree(v: any) {
  const { steps, reward, task_accuracy: accuracy } = v;
  const search = branpoSearch({
    ...{ steps, reward, accuracy, successSteps: v.mean_steps_of_successes },
    mayBranch: v.may_branch,
  });
  const mixed = accuracy > 0.5 && accuracy < 1;
  const calls = [];
  let [used, back] = [0, Math.min(2, steps)];
  const own = () => ({ reward, steps: Math.min(back, steps) });
  const branches = [];
  for (const { attempts, back: from } of search) {
    back = from;
    let found = false;
    for (let i = 0; i < attempts && !found; i++) {
      const { reward: got, extra_steps, masked_out } = v.attempts[used++];
      const other = { reward: got, steps: Math.max(1, back + extra_steps) };
      const preference = masked_out ? 0 : branpoPreference(own(), other, mixed);
      found = preference !== 0;
      if (found) branches.push({ ...own(), preference: -preference }, { ...other, preference });
    }
    calls.push({ num_branches: attempts + 1, branchpoint: back, found });
    if (found) break;
  }
  if (calls.length === 0) calls.push({ num_branches: 1, branchpoint: back, found: false });
  if (branches.length === 0) branches.push({ ...own(), preference: 0 });
  return { calls, attempts_used: used, base_steps: steps - back, branches };
}

const rowSums = (rows: readonly (readonly number[])[]) =>
  rows.map((row) => row.reduce((a, b) => a + b, 0));

export const runners: Runners = {
  branpo_branching: branpoTree,
  branpo_advantage: (v) => ({
    advantages: branpo(
      {
        ...{ prefix: v.base_response_mask, branch: v.branch_response_mask, groups: v.uid },
        ...{
          treeRewards: rowSums(v.token_level_scores_base),
          rewards: rowSums(v.token_level_scores),
        },
        preferences: rowSums(v.token_level_preferences),
      },
      { loneRow: "reward", normalizeByDeviation: v.norm_adv_by_std_in_grpo },
    ).advantages,
  }),
};
