import { expectManyListeners, yieldToEventLoop } from "#platform/process";
import {
  above,
  checkOptions,
  integer,
  type OptionRules,
} from "../../common/options/check-options.js";
import { shown } from "../../common/options/check-arguments.js";
import { nearest } from "../../common/options/nearest.js";
import { defined } from "../../common/options/defined.js";
import { type AuthoredText, withoutAnswers } from "../base/text/authored-text.js";
import { inTime } from "../base/concurrency/in-time.js";
import { Semaphore } from "../base/concurrency/semaphore.js";
import type { Task } from "../tasks/task.js";
import { RolloutTree } from "../rollout/rollout-tree.js";
import type { RolloutTask } from "../rollout/task.js";
import type { Trajectory } from "../rollout/tree/trajectory.js";
import { turnsOf } from "../rollout/tree/turns.js";
import { running } from "../base/watch/running.js";
import { deepResearch } from "./rewards/deep-research.js";
import { environmentReward } from "./rewards/environment.js";
import { judgedPrompt, type JudgedTrajectory } from "./judged-trajectory.js";
import { groupScores, isGroupReward, type Reward } from "./reward-function.js";
import { checkTruths, type Score } from "./score.js";
import { Scored, type ScoredTrajectory } from "./scored.js";

/** What one call of a reward may take, and for whom it is made. */
interface AnswerOptions {
  /** Names the trajectories: `task calc-3, trajectory 2`. */
  place: string;
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * What a reward answers within its time; throws in the name of its trajectories where it throws, takes too
 * long, or is no longer wanted. What it does after that is nobody's business.
 */
async function answerOf<T>(
  call: (signal: AbortSignal) => Promise<T>,
  { place, timeoutMs, signal }: AnswerOptions,
): Promise<T> {
  const own = new AbortController();
  const stop = () => own.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  const late = () => {
    const limit = `${timeoutMs / 1000} s`;
    const error = new Error(
      `Cannot score ${place}: the reward must answer within ${limit}, got nothing`,
    );
    own.abort(error);
    return error;
  };
  const answer = call(own.signal).catch((error: unknown) => {
    const said = error instanceof Error ? error.message : String(error);
    // What we found wrong with an answer speaks for itself.
    const words =
      /^the (reward (of a group )?must give|judge must give|judge gave no verdict) /.test(said)
        ? said
        : `the reward threw ${said}`;
    throw new Error(`Cannot score ${place}: ${words}`, { cause: error });
  });
  return inTime(answer, { ms: timeoutMs, late, signal }).finally(() =>
    signal.removeEventListener("abort", stop),
  );
}

/** What scoring needs of a task; the rest is passed on to the reward. */
export type ScorableTask = RolloutTask &
  Partial<Pick<Task, "id" | "groundTruth" | "dataSource" | "extra">>;
type ScorableTree = RolloutTree<ScorableTask>;

export interface ScoreOptions {
  /** Rewards that may be under way at the same time. Default: 32. */
  concurrency?: number;
  /** How long one call of the reward may take. Default: 600,000; Infinity for no limit. */
  timeoutMs?: number;
  /** Stops the scoring; the rewards are told. Default: none. */
  signal?: AbortSignal;
}

const rules: OptionRules<ScoreOptions> = {
  concurrency: integer(1),
  timeoutMs: above(0),
  signal: "signal?",
};

/** A trajectory that is to be scored. */
interface Row {
  tree: ScorableTree;
  trajectory: Trajectory;
  group: string;
  judged: JudgedTrajectory;
}

function trajectoriesOf(tree: ScorableTree): Row[] {
  const { task, index, policy, seed, config } = tree;
  const group = task.id ?? String(index);
  const { groundTruth, dataSource, extra } = task;
  const prompt = judgedPrompt(task, tree.prompt.text);
  const partsOf = ({ parts, text }: Trajectory): readonly AuthoredText[] =>
    parts ?? [{ by: "model", text }];
  return tree.selected.map((trajectory) => ({
    tree,
    trajectory,
    group,
    judged: {
      response: withoutAnswers(partsOf(trajectory)),
      parts: partsOf(trajectory),
      transcript: trajectory.text,
      ...defined({ groundTruth, dataSource, extra }),
      toolCalls: trajectory.toolCalls,
      length: trajectory.tokens.length,
      prompt,
      tree: {
        ...{ group, index, policy, seed, trajectory: trajectory.id },
        trajectories: tree.trajectories.length,
        kind: tree.trajectories[trajectory.id]!.kind,
        end: trajectory.end,
        responseLength: config.responseLength,
      },
      ...outcomeOf(tree, trajectory.id),
    },
  }));
}

/** What the environment says of a trajectory; in one that says nothing at the end, its calls speak. */
function outcomeOf(tree: ScorableTree, trajectory: number): Pick<JudgedTrajectory, "outcome"> {
  if (!tree.environment) return {};
  return { outcome: tree.trajectories[trajectory]!.outcome ?? { reason: "" } };
}

/** Trajectories that one call of the reward judges: one, or all of a group. */
function callsOf(trajectories: readonly Row[], reward: Reward): Row[][] {
  if (!isGroupReward(reward)) return trajectories.map((trajectory) => [trajectory]);
  const groups = new Map<string, Row[]>();
  for (const trajectory of trajectories) {
    const group = groups.get(trajectory.group);
    if (group) group.push(trajectory);
    else groups.set(trajectory.group, [trajectory]);
  }
  return [...groups.values()];
}

/** Whom a call is about: `task calc-3, trajectory 2`. */
function placeOf(call: readonly Row[]): string {
  const trajectories = call.map(({ trajectory }) => trajectory.id);
  const { group } = call[0]!;
  return trajectories.length === 1
    ? `task ${group}, trajectory ${trajectories[0]}`
    : `task ${group}, trajectories ${trajectories.join(", ")}`;
}

/** A trajectory with its score, and what its turns earned. */
function scoredTrajectory({ tree, trajectory, group }: Row, score: Score): ScoredTrajectory {
  const { turns: said } = score;
  const calls = trajectory.toolCalls.some(({ reward }) => reward !== undefined);
  const row = { trajectory, group, score };
  if (!said && !calls) return row;
  const turns = turnsOf(tree, trajectory);
  if (said && said.length !== turns.length) {
    throw new RangeError(
      `Cannot score task ${group}, trajectory ${trajectory.id}: the reward must give a number for each of its ${turns.length} turns, got ${said.length}`,
    );
  }
  const turnRewards = turns.map(({ call }, i) => (call?.reward ?? 0) + (said?.[i] ?? 0));
  if (turnRewards.every(Number.isFinite)) return { ...row, turnRewards };
  throw new RangeError(
    `Cannot score task ${group}, trajectory ${trajectory.id}: what its turns earn must be finite numbers, got ${turnRewards.join(", ")}`,
  );
}

/** A hint for who gave a reward's name, as a configuration has it: the names, and how the value is got. */
async function namedReward(name: string): Promise<string> {
  const { rewards } = await import("./rewards/registry.js");
  const near = rewards.names.includes(name) ? name : nearest(name, rewards.names);
  return near === undefined
    ? `; one of ${rewards.names.join(", ")} is had by await loadReward(name)`
    : `; did you mean await loadReward(${JSON.stringify(near)})?`;
}

/** How long scoring keeps the event loop to itself, where rewards give their numbers at once. */
const longestTurnMs = 50;

function checkTrees(trees: unknown): ScorableTree[] {
  const list: unknown[] = Array.isArray(trees) ? trees : [trees];
  const odd = list.findIndex((tree) => !(tree instanceof RolloutTree));
  if (odd < 0) return list as ScorableTree[];
  throw new TypeError(
    `Cannot score: there must be a tree or a list of trees, got ${shown(list[odd])}`,
  );
}

/**
 * Scores every trajectory of one tree or of many. A reward sees what the model wrote, what was asked, the tool
 * calls and the task; rewards that wait (for a judge, for a program) run at the same time. One that
 * throws, gives no finite number or takes too long ends the scoring, and is named by its task and trajectory.
 * Without a reward, trajectories that acted in an environment have the environment's, others ARPO's.
 *
 * @param trees one tree or several
 * @param given the reward; `environmentReward` for trees of an environment and `deepResearch` for others if left out
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { score } from "arpo-lab/learn";
 * import { rollout } from "arpo-lab/rollout";
 * import { ScriptedPolicy } from "arpo-lab/experimental/testing";
 *
 * const text = "<think>easy</think><answer>\\boxed{4}</answer>\u0001";
 * const tree = await rollout(new ScriptedPolicy(() => ({ text })), {
 *   prompt: "2+2?",
 *   groundTruth: "4",
 * });
 * assert.equal((await score(tree)).mean, 1);
 * const asked = await score(tree, ({ prompt }) => Number(prompt.question === "2+2?"));
 * assert.equal(asked.mean, 1);
 * ```
 */
export async function score(
  trees: RolloutTree<ScorableTask> | readonly RolloutTree<ScorableTask>[],
  given?: Reward,
  options: ScoreOptions = {},
): Promise<Scored> {
  checkOptions("score", options, rules);
  const list = checkTrees(trees);
  const inWorlds = list.length > 0 && list.every((tree) => tree.environment !== undefined);
  const reward = given ?? (inWorlds ? environmentReward : deepResearch);
  if (typeof reward !== "function" && !isGroupReward(reward)) {
    const named = typeof reward === "string" ? await namedReward(reward) : "";
    throw new TypeError(
      `Cannot score: the reward must be a function or a groupReward, got ${shown(reward)}${named}`,
    );
  }
  if (given === undefined && !inWorlds)
    checkTruths(
      "score",
      list.map(({ task }) => task),
    );
  const { concurrency = 32, timeoutMs = 600_000, signal } = options;
  const trajectories = list.flatMap(trajectoriesOf);
  const scores = new Map<Row, Score>();
  const stop = new AbortController();
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  expectManyListeners(either); // every call listens
  const semaphore = new Semaphore(concurrency);
  let turned = performance.now();

  const judge = async (call: readonly Row[]) => {
    if (performance.now() - turned > longestTurnMs) {
      await yieldToEventLoop();
      turned = performance.now();
    }
    either.throwIfAborted();
    const place = placeOf(call);
    const found = await answerOf(
      (within) =>
        running(`the reward of ${place}`, () =>
          groupScores(
            reward,
            call.map(({ judged }) => judged),
            { signal: within },
          ),
        ),
      { place, timeoutMs, signal: either },
    );
    call.forEach((trajectory, i) => {
      const value = found[i]!;
      if (!Number.isFinite(value.score)) {
        throw new RangeError(
          `Cannot score task ${trajectory.group}, trajectory ${trajectory.trajectory.id}: the reward must be a finite number, got ${value.score}`,
        );
      }
      scores.set(trajectory, value);
    });
  };
  try {
    await Promise.all(
      callsOf(trajectories, reward).map((call) => semaphore.run(() => judge(call), either)),
    );
  } catch (error) {
    // The others are told that nobody waits for them.
    stop.abort(error);
    throw error;
  }
  return new Scored(
    trajectories.map((trajectory) => scoredTrajectory(trajectory, scores.get(trajectory)!)),
    list as readonly RolloutTree[],
  );
}
