import { note } from "#platform/note";
import { checkArguments } from "../arguments/check-arguments.js";
import type { Policy } from "../policy/policy.js";
import { Random } from "../random/random.js";
import { rolloutConfig } from "./config.js";
import { finishTree } from "./grow/finish-tree.js";
import { growTrees } from "./grow/grow-trees.js";
import { inEnvironments } from "./grow/in-environments.js";
import type { TreeStart } from "./grow/tree-start.js";
import type { RolloutOptions } from "./options.js";
import { RolloutTree } from "./rollout-tree.js";
import { chatOf, checkTask, promptOf, type RolloutTask, withObservation } from "./task.js";

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
  checkArguments("roll out", { policy }, { policy: "policy" });
  const config = rolloutConfig(options);
  if (config.mode === "train") sayCapped(options.initialRollouts, config.n);
  const many = Array.isArray(tasks);
  const list = (many ? tasks : [tasks]) as readonly T[];
  list.forEach(checkTask);
  const seed = Random.from(config.seed);
  const { tokenizer } = policy;
  const { firstIndex = 0 } = options;
  const places = list.map((task, i) => ({ task, index: firstIndex + i }));
  const runs = await inEnvironments(places, seed, options, (episodes, within) => {
    const starts = places.map(({ task, index }, i): TreeStart => {
      const said = withObservation(task, episodes?.[i]?.observation);
      const prompt = promptOf(said, tokenizer, config.promptLimit);
      const messages = chatOf(said, prompt, tokenizer);
      return { index, prompt, messages, random: seed.split(index), task, episodes: episodes?.[i] };
    });
    return growTrees(policy, config, within, starts);
  });
  const trees = runs.map(({ run, monitor }, i) => {
    const data = finishTree(run, list[i]!, config, policy);
    if (monitor) data.monitor = monitor;
    return new RolloutTree(data, { policy, options });
  });
  return many ? trees : trees[0]!;
}

let saidCapped = false;

/** Says once that the budget is smaller than the start: such a tree has nothing left for branches. */
function sayCapped(asked: number | undefined, n: number): void {
  if (saidCapped || asked === undefined || asked <= n) return;
  saidCapped = true;
  note(
    `arpo-lab: initialRollouts ${asked} is more than n ${n}: a tree starts with ${n}, and none is left to branch`,
  );
}
