import { Command } from "commander";
import { guarded } from "../guarded.js";
import type { ServeCommandOptions } from "../serve/run-serve.js";
import { whole } from "../whole-number.js";

/** `arpo-lab serve MODEL`: a policy behind an OpenAI-compatible endpoint. */
export function serveCommand(): Command {
  return new Command("serve")
    .description("serve a model as an OpenAI-compatible endpoint")
    .argument("<model>", "a Hugging Face folder, such as data/models/tiny, or a .gguf file")
    .option("--port <number>", "port to listen on", whole(0, 65535), 8000)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--api-key-env <name>", "environment variable with the key that clients must send")
    .option("--name <text>", "the model's name in requests; default: the folder's name")
    .option("--context <tokens>", "longest sequence; default: the model's limit", whole(1))
    .option(
      "--dtype <type>",
      "data type of the weights: float32, bfloat16, int8, q4, w8a8 or w4a8 (docs/models.md)",
      "float32",
    )
    .option("--cache <type>", "data type of the KV cache: float32 or float16", "float32")
    .option("--max-rows <count>", "sequences decoded at the same time", whole(1), 64)
    .option(
      "--max-queue <count>",
      "requests that may wait; further ones get status 429",
      whole(0),
      256,
    )
    .option("--quiet", "do not print requests")
    .action(async (model: string, options: ServeCommandOptions) => {
      const { runServe } = await import("../serve/run-serve.js");
      await guarded({ afterwards: "the server has ended" }, () => runServe(model, options));
    });
}
