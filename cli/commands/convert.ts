import { Command, Option } from "commander";
import type { ConvertCommandOptions } from "../convert/run-convert.js";

/** `arpo-lab convert FROM TO`: checkpoints from one form to another, or compared. */
export function convertCommand(): Command {
  return new Command("convert")
    .description(
      "turn a checkpoint (verl's shards, a Hugging Face folder, a .gguf file) into a Hugging Face folder or a .gguf file",
    )
    .argument(
      "<from>",
      "a folder with model_world_size_W_rank_R.pt or with safetensors, or a .gguf file",
    )
    .argument("<to>", "the folder or .gguf file to write, or with --compare to compare with")
    .addOption(
      new Option(
        "--dtype <type>",
        "of the weights; bf16 for shards, else as they are; the last three for .gguf",
      ).choices(["f32", "bf16", "f16", "q8_0", "q4_0", "q4_1"]),
    )
    .option("--base <folder>", "config.json and tokenizer; without it, the checkpoint's own")
    .option("--lora <folder>", "adapters in PEFT's files, added to the weights")
    .option("--max-shard <size>", "largest weight file, as 5GB or 500MB")
    .option(
      "--pre <name>",
      "how a .gguf says text is cut, where llama.cpp lacks the tokenizer's way",
    )
    .option("--compare", "write nothing; show where the two differ, and fail if they do")
    .option("--tolerance <number>", "how far values may differ in --compare", Number, 1e-6)
    .option("--json", "print the result as JSON and nothing else")
    .action(async (from: string, to: string, options: ConvertCommandOptions) => {
      const { runConvert } = await import("../convert/run-convert.js");
      process.exitCode = await runConvert(from, to, options);
    });
}
