import { setMaxListeners } from "node:events";
import type { Policy } from "../policy/policy.js";
import { Random } from "../random/random.js";
import { Gate } from "../tools/gate.js";
import { rolloutConfig, type RolloutConfig } from "./config.js";
import { environment, type Environment } from "./environment.js";
import { finishTree } from "./finish-tree.js";
import type { RolloutOptions } from "./options.js";
import { RolloutTree } from "./rollout-tree.js";
import { growInLockstep } from "./schedule-lockstep.js";
import { growAlone } from "./schedule-prompt.js";
import { promptOf, type RolloutTask } from "./task.js";
import { TreeRun, type TreeStart } from "./tree-run.js";

/**
 * Rolls out one task into a tree of tool-using trajectories, or many tasks into a tree each.
 *
 * Everything random is drawn from streams named after the seed, the prompt's place, the row and, for
 * branches, the round and the attempt. So the same seed gives the same trees whatever the number of
 * tool workers and however long tools take, and a further row changes no other.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { rollout, rolloutPresets } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/rollout/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const policy = new ScriptedPolicy(({ text }) =>
 *   text.includes("<result>") ? { text: "It is 42.\u0001" } : { text: "<calc>6*7</calc>" },
 * );
 * const tree = await rollout(
 *   policy,
 *   { prompt: "What is 6*7?" },
 *   { ...rolloutPresets.arpo, tools: new ToolSet([calculator()]), n: 4, initialRollouts: 2 },
 * );
 * assert.equal(tree.trajectories[0].text, "<calc>6*7</calc> <result>\n42\n</result>It is 42.");
 * assert.equal(tree.metrics["tools/calc/success_rate"], 1);
 * ```
 */
export async function rollout<T extends RolloutTask>(
  policy: Policy,
  task: T,
  options?: RolloutOptions,
): Promise<RolloutTree<T>>;
export async function rollout<T extends RolloutTask>(
  policy: Policy,
  tasks: readonly T[],
  options?: RolloutOptions,
): Promise<RolloutTree<T>[]>;
export async function rollout<T extends RolloutTask>(
  policy: Policy,
  tasks: T | readonly T[],
  options: RolloutOptions = {},
): Promise<RolloutTree<T> | RolloutTree<T>[]> {
  const config = rolloutConfig(options);
  const many = Array.isArray(tasks);
  const list = (many ? tasks : [tasks]) as readonly T[];
  const seed = Random.from(config.seed);
  const starts = list.map((task, index) => ({
    index,
    prompt: promptOf(task, policy.tokenizer, config.promptLimit),
    random: seed.split(index),
  }));
  const runs = await growTrees(policy, config, options, starts);
  const trees = runs.map(({ run, monitor }, i) => {
    const data = finishTree(run, list[i]!, config, policy);
    if (monitor) data.monitor = monitor;
    return new RolloutTree(data, { policy, options });
  });
  return many ? trees : trees[0]!;
}

/** A grown tree and what pre-monitoring said about its prompt. */
export interface Grown {
  run: TreeRun;
  monitor: Awaited<ReturnType<typeof growAlone>>;
}

/** Grows trees in one session; whatever happens, the session is closed afterwards. */
export async function growTrees(
  policy: Policy,
  config: RolloutConfig,
  options: RolloutOptions,
  starts: readonly TreeStart[],
): Promise<Grown[]> {
  options.signal?.throwIfAborted();
  // One tree's failure stops the others at once instead of after their last token.
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  setMaxListeners(0, signal); // Every running row and tool listens.
  const env: Environment = environment(policy, config, options, signal);
  try {
    const runs = starts.map((start) => new TreeRun(env, start));
    if (config.scheduling === "lockstep") {
      const monitors = await growInLockstep(env, runs);
      return runs.map((run, i) => ({ run, monitor: monitors[i] }));
    }
    const gate = new Gate(options.promptsAtOnce ?? 64);
    let failure: { reason: unknown } | undefined;
    const grown = await Promise.all(
      runs.map(async (run) => {
        try {
          return { run, monitor: await gate.run(() => growAlone(env, run), signal) };
        } catch (error) {
          failure ??= { reason: error };
          stop.abort(error);
          return undefined;
        }
      }),
    );
    if (failure) throw failure.reason;
    return grown.map((g) => g!);
  } finally {
    stop.abort(new Error("Cannot go on: the rollout is over"));
    env.session.dispose();
  }
}
