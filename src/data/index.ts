export { batches, type Batch, type LoaderOptions, type LoaderState } from "./batches.js";
export { demonstrateIn } from "./environments/demonstrate-in.js";
export { environments } from "./environments/index.js";
export { Maze, type MazeOptions } from "./environments/maze.js";
export { Shop, type ShopOptions } from "./environments/shop.js";
export { fitPrompt, type Truncation } from "./fit-prompt.js";
export { createCountry, type Country, type Thing } from "./natural/country.js";
export { naturalTasks } from "./natural/index.js";
export type { NaturalOptions } from "./natural/options.js";
export { readRows, type DataRow } from "./read-rows.js";
export { readTasks } from "./read-tasks.js";
export { repairBoxed, rowFromTask, taskFromRow, type RlRowOptions } from "./rl-row.js";
export { question, type Task } from "./task.js";
export { resultBlock } from "../text/result-block.js";
export { demonstrate, type Demonstration, type RunTool } from "./tasks/demonstrate.js";
export { tasks } from "./tasks/index.js";
export type {
  Corruption,
  Decide,
  Expert,
  ExpertStep,
  TaskSet,
  TaskSetOptions,
} from "./tasks/task-set.js";
export {
  createWorld,
  sentence,
  world,
  worldPages,
  type Fact,
  type Relation,
  type World,
} from "./tasks/world.js";
