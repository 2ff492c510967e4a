/** Runs: tasks, training, configuration, run folders, loggers, evaluation. */

// Tasks and demonstrations
export { tasks } from "../tasks/tasks/index.js";
export type { TaskSet, TaskSetOptions } from "../tasks/tasks/task-set.js";
export type { Task } from "../tasks/task.js";
export { naturalTasks } from "../tasks/natural/index.js";
export { readTasks } from "../tasks/read-tasks.js";
export { taskFromRow } from "../tasks/rl-row.js";
export { world, type World, worldPages } from "../tasks/tasks/world.js";
export { demonstrate, type Demonstration } from "../tasks/tasks/demonstrate.js";
export { demonstrations, type DemonstrationOptions } from "../run/demonstrations.js";

// Training
export type { CellTraining } from "../run/trainer/cell-options.js";
export { trainOn } from "../run/trainer/train-cells.js";
export { TrainingRun } from "../run/trainer/training-run.js";
export { train, type TrainOptions } from "../run/trainer/train.js";
export { Trainer, type TrainerParts, type TrainerStep } from "../run/trainer/trainer.js";
export { RunFolder } from "../run/folder/run-folder.js";

// Sweeps
export { sweep } from "../run/sweep/sweep.js";
export type { SweepArm, SweepOptions } from "../run/sweep/sweep-options.js";
export { compareAt, type CompareAtOptions } from "../run/compare/compare-at.js";
export { SweepRuns } from "../run/sweep/sweep-runs.js";

// Configuration
export { loadConfig } from "../run/config/load.js";
export type { LoadOptions, LoadedConfig } from "../run/config/options.js";
export type { Config } from "../run/config/schema.js";
export { rolloutOptions, updateOptions } from "../run/trainer/options.js";

// Loggers
export type { Logger, LoggedAnswer } from "../run/loggers/logger.js";
export { consoleLogger } from "../run/loggers/console.js";
export { jsonLines } from "../run/loggers/json-lines.js";
export { tensorBoard } from "../run/loggers/tensorboard.js";
export { wandbLogger } from "../run/loggers/wandb.js";
export { mlflowLogger } from "../run/loggers/mlflow.js";

// Evaluation
export { evaluate } from "../eval/evaluate.js";
export type { EvaluateOptions } from "../eval/evaluate-benchmarks.js";
export { TaskEvaluation, type TaskEvaluationOptions } from "../eval/evaluate-tasks.js";
export { Evaluation } from "../eval/report/evaluation.js";
export { benchmarks } from "../eval/benchmarks/benchmarks.js";
export type { Benchmark, BenchmarkItem } from "../eval/benchmarks/benchmark.js";
export { readBenchmark } from "../eval/benchmarks/read-benchmark.js";
export { LlmJudge, type LlmJudgeOptions } from "../eval/judge/llm-judge.js";
export type { AnswerJudge } from "../eval/report/score-samples.js";
export { passAtK } from "../eval/metrics/pass-at-k.js";
export { meanInterval } from "../eval/metrics/interval.js";
