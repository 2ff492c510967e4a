/**
 * What most notebooks need, under one name. Each topic has an entry point of its own with the rest:
 * `arpo-lab/model`, `/policy`, `/tools`, `/rollout`, `/learn`, `/run`, `/view`, `/kernel`.
 */

// A policy, its tools and its tasks
export { Policy, Random } from "./policy.js";
export { ToolSet, taskTools, type Tool } from "./tools.js";
export { demonstrate } from "../tasks/tasks/demonstrate.js";
export { tasks } from "../tasks/tasks/index.js";
export { world } from "../tasks/tasks/world.js";
export { readTasks } from "../tasks/read-tasks.js";
export type { Task } from "../tasks/task.js";
export type { TaskSet } from "../tasks/tasks/task-set.js";
export { demonstrations } from "../run/demonstrations.js";

// Rollouts
export {
  loadTrees,
  presets,
  rollout,
  RolloutTree,
  saveTrees,
  type CellPreset,
  type RolloutOptions,
  type Trajectory,
} from "./rollout.js";

// Rewards
export {
  byDataSource,
  deepResearch,
  diagnose,
  exactMatch,
  groupReward,
  judgeReward,
  math,
  rubric,
  score,
  Scored,
  type RewardFunction,
} from "./learn.js";

// Learning
export {
  advantages,
  fineTune,
  Learner,
  losses,
  tokenUpdate,
  TrainingBatch,
  update,
  UpdateReport,
} from "./learn.js";
export { ready, tf } from "./model.js";

// Runs and evaluation. Not through `./run.js`, which also builds the configuration's schema.
export { Trainer } from "../run/trainer/trainer.js";
export { trainOn } from "../run/trainer/train-cells.js";
export type { TrainingRun } from "../run/trainer/training-run.js";
export { loadConfig } from "../run/config/load.js";
export { benchmarks } from "../eval/benchmarks/benchmarks.js";
export { evaluate } from "../eval/evaluate.js";
export type { Evaluation } from "../eval/report/evaluation.js";

// Views. From here on values show themselves in them.
export { board, explain, explore, forks, toFrame, toRows } from "./view.js";
