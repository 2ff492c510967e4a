import { Command, InvalidArgumentError } from "commander";

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) {
    throw new InvalidArgumentError("It must be a whole number above 0.");
  }
  return value;
}

const list = (text: string, before: string[]) => [...before, text];

/** Options of everything that reads a configuration. */
export const configured = (command: Command): Command =>
  command
    .argument("[overrides...]", "key=value, ++key=value or ~key, as for verl")
    .option("--config <file>", "a YAML file with verl's keys; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, []);

/** `arpo-lab train | sft | rollout | try | toy | compare | tiny`: learning without a notebook. */
export function learnCommands(): Command[] {
  const train = configured(new Command("train"))
    .description("reinforcement learning from a configuration")
    .option("--out <folder>", "the run folder; without it, trainer.default_local_dir")
    .option(
      "--emit <where>",
      "-: one line of JSON per step on standard output, all else on error's",
    )
    .action(async (overrides: string[], options) =>
      (await import("../learn/train.js")).trainFromConfig(overrides, options),
    );
  const rollout = configured(new Command("rollout"))
    .description("roll out tasks and write the trees as JSONL or parquet")
    .option("--tasks <count>", "how many training tasks", whole, 8)
    .requiredOption("--out <file>", "where the trees go: .jsonl or .parquet")
    .action(async (overrides: string[], options) =>
      (await import("../learn/rollout.js")).rolloutFromConfig(overrides, options),
    );
  const attempt = configured(new Command("try"))
    .description("sample prompts through a checkpoint and check its tool use")
    .option("--tasks <count>", "how many validation tasks", whole, 4)
    .option("--model <path>", "the checkpoint, such as RUN/global_step_40/actor, or a .gguf file")
    .option("--greedy", "take the most likely token instead of sampling")
    .action(async (overrides: string[], options) =>
      (await import("../learn/try.js")).tryCheckpoint(overrides, options),
    );
  const sft = new Command("sft")
    .description("supervised fine-tuning from a LLaMA-Factory YAML file")
    .argument("<config>", "the YAML file")
    .argument("[overrides...]", "key=value")
    .action(async (config: string, overrides: string[]) =>
      (await import("../learn/sft.js")).sftFromConfig(config, overrides),
    );
  const toy = new Command("toy")
    .description("cut a small data set from a big one")
    .argument("<from>", "a .parquet, .jsonl, .json or .csv file")
    .argument("<to>", "the .jsonl file to write")
    .option("--rows <count>", "how many rows", whole, 64)
    .option("--seed <number>", "which rows", whole, 1)
    .option("--by <column>", "the column whose values keep their shares", "data_source")
    .action(async (from: string, to: string, options) =>
      (await import("../learn/toy.js")).cutToy(from, to, options),
    );
  const compare = new Command("compare")
    .description("curves and tables of two or more runs side by side")
    .argument("<runs...>", "run folders, or name=folder,folder for the seeds of one setting")
    .option("--metric <name>", "metric to compare; may be repeated", list, [])
    .option("--out <file>", "draw the first metric: .svg, .png, .html or .json")
    .action(async (runs: string[], options) =>
      (await import("../learn/compare.js")).compareRuns(runs, options),
    );
  const tiny = new Command("tiny")
    .description("train the tiny model of data/models/tiny again")
    .argument("<folder>", "where it goes")
    .action(async (folder: string) => (await import("../learn/tiny.js")).makeTiny(folder));
  return [train, sft, rollout, attempt, toy, compare, tiny];
}
