import { Command } from "commander";
import { list, positive, seeds, whole } from "../terminal/values.js";
import { configured } from "./options.js";

/** `arpo-lab train | sweep | sft | rollout | sample | subset | compare | train-tiny`: learning without a notebook. */
export function learnCommands(): Command[] {
  const train = configured(new Command("train"))
    .description("train with reinforcement learning from a configuration")
    .option("--out <folder>", "run folder; default: trainer.default_local_dir")
    .option(
      "--emit <where>",
      "-: print one line of JSON per step to standard output, everything else to standard error",
    )
    .option("--seeds <list>", "a run for each, below --out: 1..5 or 1,2,5", seeds)
    .action(async (overrides: string[], options) => {
      if (options.seeds) await (await import("../learn/sweep.js")).trainSeeds(overrides, options);
      else await (await import("../learn/train.js")).trainFromConfig(overrides, options);
    });
  const sweep = new Command("sweep")
    .description("train several settings with several seeds, and compare them")
    .argument("<file>", "a YAML file with arms, seeds and what they share (docs/sweeps.md)")
    .option("--out <folder>", "where the runs go; without it, the file's folder key, or runs/FILE")
    .option("--seeds <list>", "in place of the file's: 1..5 or 1,2,5", seeds)
    .option("--processes <n>", "runs at the same time; the threads are divided", whole(1))
    .option("--ray <url>", "send the runs to a Ray cluster, http://HEAD:8265")
    .action(async (file: string, options) =>
      (await import("../learn/sweep.js")).sweepFromFile(file, options),
    );
  const rollout = configured(new Command("rollout"))
    .description("roll out tasks and write the trees as JSONL or parquet")
    .option("--tasks <count>", "number of training tasks", whole(1), 8)
    .requiredOption("--out <file>", "file to write: .jsonl or .parquet")
    .action(async (overrides: string[], options) =>
      (await import("../learn/rollout.js")).rolloutFromConfig(overrides, options),
    );
  const sample = configured(new Command("sample"))
    .description("sample answers from a checkpoint and check its tool use")
    .option("--tasks <count>", "number of validation tasks", whole(1), 4)
    .option("--model <path>", "the checkpoint, such as RUN/global_step_40/actor, or a .gguf file")
    .option("--greedy", "take the most likely token instead of sampling")
    .action(async (overrides: string[], options) =>
      (await import("../learn/sample.js")).sampleCheckpoint(overrides, options),
    );
  const sft = new Command("sft")
    .description("fine-tune on demonstrations (SFT) from a LLaMA-Factory YAML file")
    .argument("<config>", "the YAML file")
    .argument("[overrides...]", "key=value")
    .action(async (config: string, overrides: string[]) =>
      (await import("../learn/sft.js")).sftFromConfig(config, overrides),
    );
  const subset = new Command("subset")
    .description("write a small random subset of a data set")
    .argument("<from>", "a .parquet, .jsonl, .json or .csv file")
    .argument("<to>", "the .jsonl file to write")
    .option("--rows <count>", "number of rows", whole(1), 64)
    .option("--seed <number>", "seed that chooses the rows", whole(1), 1)
    .option("--by <column>", "stratify by this column", "data_source")
    .action(async (from: string, to: string, options) =>
      (await import("../learn/subset.js")).writeSubset(from, to, options),
    );
  const compare = new Command("compare")
    .description("compare two or more runs: curves and tables")
    .argument("<runs...>", "run folders, or name=folder,folder for the seeds of one setting")
    .option("--metric <name>", "metric to compare; may be repeated", list, [])
    .option("--at <amount>", "compare at equal cost: so many tokens, paired by seed", positive)
    .option("--x <what>", "with --at: tokens, calls, trajectories or steps; without it, tokens")
    .option("--against <name>", "with --at: the setting the others are compared with")
    .option("--margin <size>", "with --at: also test whether differences are within this", positive)
    .option("--out <file>", "draw the first metric: .svg, .png, .pdf, .html or .json")
    .action(async (runs: string[], options) =>
      (await import("../learn/compare.js")).compareRuns(runs, options),
    );
  const trainTiny = new Command("train-tiny")
    .description("train the included tiny model (data/models/tiny) again")
    .argument("<folder>", "folder to write")
    .action(async (folder: string) => (await import("../learn/train-tiny.js")).makeTiny(folder));
  return [train, sweep, sft, rollout, sample, subset, compare, trainTiny];
}
