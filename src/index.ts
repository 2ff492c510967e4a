// What most notebooks need, under one name. Each room has an entrance of its own (`arpo-lab/tensor`,
// `arpo-lab/rollout`, …) with everything else.
export { demonstrate, readTasks, tasks, world, type Task, type TaskSet } from "./data/index.js";
export { fillIn, importRollouts, type ImportedRollouts } from "./import/index.js";
export { benchmarks, evaluate, type Evaluation } from "./eval/index.js";
export {
  advantages,
  fineTune,
  Learner,
  tokenUpdate,
  update,
  type TrainingBatch,
  type UpdateReport,
} from "./learn/index.js";
export { Policy } from "./policy/index.js";
export { presets, type CellPreset } from "./presets.js";
export { Random } from "./random/index.js";
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
  type Scored,
} from "./reward/index.js";
export {
  loadTrees,
  rollout,
  saveTrees,
  type RolloutTree,
  type Trajectory,
} from "./rollout/index.js";
// Not through the room's own entrance, which also builds the configuration's schema.
export { loadConfig } from "./run/config/load.js";
export { demonstrations } from "./run/tiny/demonstrations.js";
export { taskTools } from "./defaults/task-tools.js";
export { trainOn, type TrainingRun } from "./run/trainer/train-cells.js";
export { Trainer } from "./run/trainer/trainer.js";
export { ready, tf } from "./tensor/index.js";
export { ToolSet, type Tool } from "./tools/index.js";
// Loading the views also makes trees show themselves in the explorer.
export { board, explain, explore, forks, toFrame, toRows } from "./view/index.js";
