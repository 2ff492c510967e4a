import { defined } from "../../../common/options/defined.js";
import { batches } from "../../tasks/batches.js";
import type { Task } from "../../tasks/task.js";
import { rollout } from "../../rollout/rollout.js";
import { RolloutTree } from "../../rollout/rollout-tree.js";
import type { RolloutTreeData } from "../../rollout/tree/tree-data.js";
import type { Scored } from "../../reward/scored.js";
import { type Gathered, gatherRollouts } from "./gather-rollouts.js";
import type { EnvironmentSource } from "../../environments/environment.js";
import type { Policy } from "../../policy/policy.js";
import type { TokenRanking } from "../../rollout/branch/family/signals.js";
import type { ToolSet } from "../../tools/tool-set.js";
import type { Config } from "../config/schema.js";
import { laidOver, rolloutOptions, type Told } from "./options.js";
import type { Drawing } from "./rollout-queue.js";
import type { StepClock } from "./step-clock.js";

/** What a trainer is put together from, as far as rollouts go. */
interface Parts {
  config: Config;
  policy: Policy;
  sampler?: Policy;
  tools: ToolSet;
  environment?: EnvironmentSource;
  train: readonly Task[];
  ranking?: TokenRanking;
  told?: Told;
  signal?: AbortSignal;
}

/** What a trainer lends to a batch that is drawn. */
interface Lent {
  parts: Parts;
  seed: number;
  /** What training rollouts had cost when the step began. */
  spent: number;
  clock: StepClock;
  tell: (doing: string, count?: { done?: number; of?: number }) => void;
  score: (trees: readonly RolloutTree<Task>[]) => Promise<Scored>;
  /** Each trajectory's reward after the KL penalty, where a filter asks for it. */
  finalRewards: (scored: Scored) => Promise<readonly number[]>;
}

/** A batch's trees with their scores: from what samples, which may not be the policy that trains. */
export function drawBatch(how: Drawing, lent: Lent): Promise<Gathered> {
  const { seed, clock, tell, score, finalRewards } = lent;
  const { config, train, policy, sampler = policy, tools, ranking, signal, told } = lent.parts;
  const asked = laidOver(rolloutOptions(config), told?.rollout);
  const [{ shuffle }, { tokens_per_step: each }] = [config.data, config.lab.budget];
  const acting = defined({ environment: lent.parts.environment, quiet: true });
  return gatherRollouts(
    {
      config,
      next: (state, batchSize) =>
        batches(train, { batchSize, shuffle, seed: config.lab.seed, state }).next().value!,
      rollOut: (tasks, firstIndex) => {
        const of = tasks.length * config.actor_rollout_ref.rollout.n;
        let done = 0;
        tell("rolling out", { done, of });
        return clock.time("gen", () =>
          rollout(sampler, tasks, {
            ...asked,
            onEvent: (event) => {
              asked.onEvent?.(event);
              // A rule may end more trajectories than it keeps.
              if (event.type === "end") tell("rolling out", { done: Math.min(of, ++done), of });
            },
            ...(ranking ? { expand: { ...asked.expand, signal: ranking } } : {}),
            ...{ tools, seed, firstIndex, ...acting },
            // What samples may be a rounded copy of what trains.
            ...(sampler === policy && !policy.sampler ? {} : { current: policy }),
            judge: async (_, tree) => {
              const judged = new RolloutTree<Task>(tree as RolloutTreeData<Task>);
              const { trajectories: sequences } = await score([judged]);
              return sequences.map(({ score }) => score.score > 0);
            },
            signal,
          }),
        );
      },
      tokens: each === null ? undefined : how.number * each - lent.spent - how.spent.tokens,
      score: (trees) => {
        tell("scoring");
        return clock.time("reward", () => score(trees));
      },
      finalRewards,
    },
    how.loader,
  );
}
