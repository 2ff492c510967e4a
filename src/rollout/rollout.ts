import { isTerminal, note } from "#platform/note";
import { checkArguments, shown } from "../../common/options/check-arguments.js";
import type { ChatMessage } from "../model/tokenizer/tokenizer.js";
import type { Policy } from "../policy/policy.js";
import { isChat, type Prompt, promptTask } from "../policy/prompt.js";
import { Random } from "../base/random/random.js";
import { tags } from "../tools/calls/dialects/tags.js";
import { ToolSet } from "../tools/tool-set.js";
import { readyOptions, rolloutConfig } from "./config.js";
import { finishTree } from "./grow/finish-tree.js";
import { type Grown, GrowthFailure, growTrees } from "./grow/grow-trees.js";
import { inEnvironments, type TreeEpisodes } from "./grow/tree-episodes.js";
import type { TreeStart } from "./grow/tree-start.js";
import { definitionsOf, withCallsOf, withDescription } from "./native-calls.js";
import type { ReadyOptions, RolloutOptions } from "./options.js";
import { RolloutTree } from "./rollout-tree.js";
import type { RolloutConfig } from "./settings.js";
import { noteDrawn } from "./tree/drawn-by.js";
import { UnfinishedRollout } from "./unfinished-rollout.js";
import type { ToolWatch } from "./watch-tools.js";
import { chatOf, promptOf, type RolloutTask, withObservation } from "./task.js";

/** What may be rolled out. */
export type Rollable = Prompt | readonly string[] | readonly RolloutTask[];

/** A tree for one prompt, a list of trees for a list. */
export type RolledOut<Q> = [Q] extends [string | readonly ChatMessage[]]
  ? RolloutTree
  : [Q] extends [readonly string[]]
    ? RolloutTree[]
    : [Q] extends [readonly (infer T extends RolloutTask)[]]
      ? RolloutTree<T>[]
      : [Q] extends [RolloutTask]
        ? RolloutTree<Q>
        : RolloutTree | RolloutTree[];

/**
 * Rolls out one task into a tree of tool-using trajectories, or many tasks into a tree each.
 *
 * A question (text) and a chat get the model's chat template, also as the `prompt` of a task. A task with
 * `raw: true` has text that is read as it is, without the template.
 *
 * Everything random is drawn from streams named after the seed, the prompt's place, the trajectory and, for
 * branches, the round and the attempt. So the same seed gives the same trees whatever the number of
 * tool workers and however long tools take, and a further trajectory changes no other.
 *
 * @param policy the policy to sample from
 * @param tasks a question, a chat or a task, or a list of questions or tasks, each of which gets a tree
 * @param given options
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { presets, rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 * import { calculator, ToolSet } from "arpo-lab/tools";
 *
 * const policy = new ScriptedPolicy(({ text }) =>
 *   text.includes("<result>") ? { text: "It is 42.\u0001" } : { text: "<calc>6*7</calc>" },
 * );
 * const tree = await rollout(
 *   policy,
 *   { prompt: "What is 6*7?" },
 *   { ...presets.arpo, tools: new ToolSet([calculator()]), n: 4, initialRollouts: 2 },
 * );
 * assert.equal(tree.trajectories[0].text, "<calc>6*7</calc> <result>\n42\n</result>It is 42.");
 * assert.equal(tree.metrics["tools/calc/success_rate"], 1);
 * ```
 */
export async function rollout<Q extends Rollable>(
  policy: Policy,
  tasks: Q,
  given: RolloutOptions = {},
): Promise<RolledOut<Q>> {
  checkPolicy(policy, tasks);
  const ready = withCallsOf(policy.tokenizer, readyOptions("roll out", given));
  const many = Array.isArray(tasks) && !isChat(tasks);
  const list = ((many ? tasks : [tasks]) as readonly Prompt[]).map((one) =>
    promptTask("roll out", one),
  );
  const options = withDescription(policy.tokenizer, ready, list);
  const config = rolloutConfig(options);
  if (config.mode === "train") sayCapped(options.initialRollouts, config.n);
  const watch = await watchTools(policy, options, config);
  const watched = watch ? { ...options, onEvent: bothOf(watch, options.onEvent) } : options;
  // What describes tools is read where some are to be described.
  const described = options.describe ? await import("./describe-tools.js") : undefined;
  const seed = Random.from(config.seed);
  const { tokenizer } = policy;
  const { firstIndex = 0 } = options;
  const runtime = { policy, options };
  const before = finishedBefore(list, firstIndex, runtime);
  const all = list.map((task, i) => ({ task, index: firstIndex + i }));
  const places = all.filter(({ index }) => !before.has(index));
  const treeOf = ({ run, monitor }: Grown): RolloutTree => {
    const data = finishTree(run, list[run.index - firstIndex]!, config, policy);
    if (monitor) data.monitor = monitor;
    noteDrawn(data, policy);
    return new RolloutTree(data, runtime);
  };
  /** New trees and those of before, in the order of the tasks. */
  const together = (grown: readonly (Grown | undefined)[]): RolloutTree[] => {
    const trees = new Map(before);
    for (const one of grown) if (one) trees.set(one.run.index, treeOf(one));
    return all.flatMap(({ index }) => trees.get(index) ?? []);
  };
  const grow = () =>
    inEnvironments(places, seed, watched, (episodes, within) => {
      const starts = places.map(({ task, index }, i): TreeStart => {
        const tools = functionsOf(within, episodes?.[i]);
        const told = tools
          ? task
          : (described?.describedIn(task, toolsOf(within, episodes?.[i])) ?? task);
        const said = withObservation(told, episodes?.[i]?.observation);
        const prompt = promptOf(said, tokenizer, { limit: config.promptLimit, tools });
        const messages = chatOf(said, prompt, tokenizer);
        const random = seed.split(index);
        return { index, prompt, messages, random, task, episodes: episodes?.[i] };
      });
      return growTrees(policy, config, within, starts);
    });
  try {
    const trees = together(places.length === 0 ? [] : await grow());
    return (many ? trees : trees[0]!) as RolledOut<Q>;
  } catch (error) {
    if (!(error instanceof GrowthFailure)) throw error;
    throw new UnfinishedRollout(together(error.grown), list.length, error.reason);
  } finally {
    watch?.end();
  }
}

/** The tools of a tree and of its environment. */
const toolsOf = ({ tools = new ToolSet() }: ReadyOptions, episodes: TreeEpisodes | undefined) =>
  definitionsOf(tools, episodes?.descriptions ?? {});

/** The functions that the prompt shows, where calls are written as its template does. */
function functionsOf(options: ReadyOptions, episodes: TreeEpisodes | undefined) {
  const { calls = tags } = options;
  const functions = calls === tags || calls === tags.name ? [] : toolsOf(options, episodes);
  return functions.length > 0 ? functions : undefined;
}

type Listener = NonNullable<ReadyOptions["onEvent"]>;

const bothOf =
  (watch: ToolWatch, also: Listener | undefined): Listener =>
  (event) => {
    watch.see(event);
    also?.(event);
  };

/**
 * What tells a person of tools that fail, that are waited for or that nobody calls, and a terminal how far it is;
 * undefined where there is nothing to tell, and where it is to be quiet.
 */
export async function watchTools(
  { tokenizer: { knowsTags } }: Policy,
  { quiet = false, tools, environment, describe = false }: ReadyOptions,
  { callLimit, responseLength }: Pick<RolloutConfig, "callLimit" | "responseLength">,
): Promise<ToolWatch | undefined> {
  const { tags: own = [], timeoutMs = Infinity } = tools ?? {};
  const mayCall = callLimit !== 0 && (own.length > 0 || environment !== undefined);
  if (quiet || !(mayCall || isTerminal())) return undefined;
  const uncalled = !mayCall
    ? undefined
    : describe
      ? "it was told of them and used none: fine-tune it on a few demonstrations first (docs/sft.md)"
      : knowsTags
        ? "it was trained to, and saw no need here"
        : "does the prompt say that there are tools? describe: true does";
  const { ToolWatch: Watch } = await import("./watch-tools.js");
  return new Watch({ tags: own, timeoutMs, responseLength, uncalled });
}

/** Refuses what is no policy; one in the second place says that the two are swapped. */
function checkPolicy(policy: unknown, tasks: unknown): void {
  if (typeof (tasks as Policy | undefined)?.session === "function") {
    throw new TypeError(
      `Cannot roll out: the policy comes first and the task second, got ${shown(policy)} first; write rollout(policy, task)`,
    );
  }
  checkArguments("roll out", { policy }, { policy: "policy" });
}

/** The trees that need not be grown again, by index. */
function finishedBefore(
  tasks: readonly RolloutTask[],
  firstIndex: number,
  runtime: { policy: Policy; options: ReadyOptions },
): Map<number, RolloutTree> {
  const { finished = [], scheduling } = runtime.options;
  const wrong = (must: string, got: string) =>
    new RangeError(`Cannot roll out: finished must be ${must}, got ${got}`);
  if (finished.length > 0 && scheduling === "lockstep") {
    throw wrong("left out in lockstep", `${finished.length} trees`);
  }
  const trees = new Map<number, RolloutTree>();
  for (const data of finished) {
    const task = tasks[data.index - firstIndex];
    if (task === undefined || JSON.stringify(task) !== JSON.stringify(data.task)) {
      throw wrong("trees of these tasks, each at its task's place", `one of place ${data.index}`);
    }
    trees.set(data.index, new RolloutTree({ ...data, task }, runtime));
  }
  return trees;
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
