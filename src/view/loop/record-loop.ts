import {
  checkOptions,
  integer,
  type OptionRules,
  positive,
  valuesOf,
} from "../../../common/options/check-options.js";
import { completed, type Given, option, rulesOf } from "../../../common/options/option-table.js";
import { ProgressLine } from "../../base/show/progress-line.js";
import { watchAs } from "../../base/show/show-as.js";
import { meanInterval } from "../../eval/metrics/interval.js";
import { advantages } from "../../learn/advantages.js";
import { update } from "../../learn/update/learner.js";
import type { ModelPolicy } from "../../policy/policy-from-model.js";
import { score, type ScorableTask } from "../../reward/score-trees.js";
import { type RolloutOptions, rolloutRules } from "../../rollout/options.js";
import { rollout } from "../../rollout/rollout.js";
import { makePayload } from "../explorer/make-payload.js";
import { isRightScore } from "../../reward/right.js";
import { ScoredAgain } from "../explorer/score-again.js";
import { many } from "../page/words.js";
import type { FreshTries, LoopPayload } from "./payload.js";

const loopTable = {
  /** Updates. Default: 24. */
  steps: option(integer(1, 400), 24),
  /** Tasks that every update trains on besides the one that is shown: three of them in turn. Default: none. */
  others: option(valuesOf<readonly ScorableTask[]>("list?"), []),
  /** Fresh tries of the question before the first update and after each. Default: 32. */
  tries: option(integer(1, 1024), 32),
  /** Of every update. Default: 1e-4. */
  learningRate: option(positive, 1e-4),
};

/** How a loop is recorded, besides how its rollouts are made. */
export interface LoopOptions extends RolloutOptions, Given<typeof loopTable> {}

const rules: OptionRules<LoopOptions> = { ...rolloutRules, ...rulesOf(loopTable) };

/** Tasks of an update besides the one that is shown. */
const besides = 3;
const alternatives = 4;

/** Records it: the tree, and after every update what the policy says of the same tokens and how fresh tries go. */
export async function recordLoop(
  policy: ModelPolicy,
  task: ScorableTask,
  options: LoopOptions,
): Promise<LoopPayload> {
  checkOptions("record the loop", options, rules);
  const { steps, others, tries, learningRate } = completed(loopTable, options, {});
  const { seed = 1 } = options;
  const given = Object.entries(options).filter(([name]) => !(name in loopTable));
  const own: RolloutOptions = {
    ...{ preset: "arpo", n: 8, initialRollouts: 4, seed },
    ...Object.fromEntries(given),
  };
  const live = watchAs("Work", { after: "this update" });
  const line = new ProgressLine();
  try {
    const tree = await rollout(policy, task, { ...own, keepTop: true });
    const scored = await score(tree);
    const batch = advantages(scored, { estimator: "grpo" });
    const total = tree.nodes.reduce((sum, { tokens }) => sum + tokens.length, 0);
    const made = makePayload(tree, { scored, batch, alternativeBytes: 4 * alternatives * total });
    // How long it took is of this machine alone.
    for (const node of made.nodes)
      Object.assign(node, { began: undefined, ended: undefined, toolMs: undefined });
    const again = new ScoredAgain(tree, made);
    const fresh: FreshTries[] = [];

    const look = async (step: number) => {
      await again.add(policy);
      // Plain rollouts: the rule that branches would count a beginning several times.
      const plain = { ...own, preset: "grpo", rule: undefined, n: tries, initialRollouts: tries };
      const outcomes = await score(
        await rollout(policy, task, {
          ...plain,
          beamSize: 1,
          seed: seed + 900 + step,
        } as RolloutOptions),
      );
      const right = outcomes.trajectories.map((one) => Number(isRightScore(one.score.score)));
      const { value: share, low, high } = meanInterval(right);
      fresh.push({ share, low, high });
      live?.tell?.(line.count("recording the loop", step, steps), { share: step / steps });
    };
    await look(0);
    for (let step = 0; step < steps && !live?.stopping; step++) {
      const next = Array.from(
        { length: Math.min(besides, others.length) },
        (_, i) => others[(step * besides + i) % others.length]!,
      );
      const trees = await rollout(policy, [task, ...next], { ...own, seed: seed + 100 + step });
      const push = advantages(await score(trees), { estimator: "grpo" });
      await update(policy, push, { preset: "arpo", learningRate });
      await look(step + 1);
    }
    const updates = fresh.length - 1;
    const besidesIt =
      others.length > 0 ? ` and ${Math.min(besides, others.length)} other questions` : "";
    return {
      ...{ tree: made, updates, fresh, tries },
      ...again.pack(),
      note: `Recorded, nothing is drawn by hand: one rollout of ${policy.name}, its words scored again after each of ${many(updates, "update")} on this question${besidesIt}.`,
    };
  } finally {
    live?.done();
  }
}
