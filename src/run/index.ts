export { configKeys, type ConfigKey } from "./config/keys.js";
export { loadConfig } from "./config/load.js";
export { parameterKeys } from "./config/loss-keys.js";
export type { LoadOptions, LoadedConfig } from "./config/options.js";
export { parseOverride, type Override } from "./config/override.js";
export { configPresets, type ConfigPreset } from "./config/presets.js";
export type { Config } from "./config/schema.js";
export { RunFolder } from "./folder/run-folder.js";
export { consoleLogger } from "./loggers/console.js";
export { jsonLines, runLine, type RunLine } from "./loggers/json-lines.js";
export type { LoggedAnswer, Logger } from "./loggers/logger.js";
export { mlflowLogger } from "./loggers/mlflow.js";
export { tensorBoard } from "./loggers/tensorboard.js";
export { wandbLogger } from "./loggers/wandb.js";
export { assemble } from "./trainer/assemble.js";
export { fitTasks } from "./trainer/fit-tasks.js";
export { toolSeconds } from "./trainer/tool-seconds.js";
export { environmentOf } from "./trainer/environment-of.js";
export { tasksOf } from "./trainer/tasks-of.js";
export {
  Trainer,
  type LocalParts,
  type TrainerParts,
  type TrainerState,
  type TrainerStep,
} from "./trainer/trainer.js";
export { validationMetrics, type ValidationScore } from "./trainer/validation-metrics.js";
export { train, type TrainOptions } from "./trainer/train.js";
export { rolloutOptions, updateOptions, validationOptions } from "./trainer/options.js";
export { trainOn, TrainingRun, type CellTraining } from "./trainer/train-cells.js";
export { loadSftConfig, type SftConfig } from "./sft/sft-config.js";
export { SftRun, type SftRunStep } from "./sft/sft-run.js";
export { demonstrations, type DemonstrationOptions } from "./tiny/demonstrations.js";
export { tinyTokenizer } from "./tiny/tiny-tokenizer.js";
export { tinyRecipe, trainTiny, type TinyRecipe, type TinyStage } from "./tiny/train-tiny.js";
export type { MetricMeaning } from "./reference/metric-meaning.js";
export { metricMeaning, metricMeanings } from "./reference/metric-meanings.js";
