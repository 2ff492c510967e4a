export { batches, type Batch, type LoaderOptions, type LoaderState } from "./batches.js";
export { fitPrompt, type Truncation } from "./fit-prompt.js";
export { readRows, type Row } from "./read-rows.js";
export { readTasks } from "./read-tasks.js";
export { repairBoxed, rowFromTask, taskFromRow, type RlRowOptions } from "./rl-row.js";
export { question, type Task } from "./task.js";
