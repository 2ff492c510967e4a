import { Command } from "commander";
import { guarded } from "../guarded.js";
import type { ServeCommandOptions } from "../serve/run-serve.js";
import { whole } from "../whole-number.js";

/** `arpo-lab serve MODEL`: a policy behind an OpenAI-compatible endpoint. */
export function serveCommand(): Command {
  return new Command("serve")
    .description("serve a model as an OpenAI-compatible endpoint")
    .argument("<model>", "a Hugging Face folder, such as data/models/tiny, or a .gguf file")
    .option("--port <number>", "the port to listen on", whole(0, 65535), 8000)
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--api-key-env <name>", "the environment variable with the key clients must send")
    .option("--name <text>", "the model's name in requests, or any; without it, the folder's")
    .option(
      "--context <tokens>",
      "the longest sequence; without it, the model's own limit",
      whole(1),
    )
    .option(
      "--dtype <type>",
      "how weights are kept: float32, bfloat16, int8, q4, w8a8 or w4a8 (docs/models.md)",
      "float32",
    )
    .option("--cache <type>", "how keys and values are kept: float32 or float16", "float32")
    .option("--max-rows <count>", "sequences decoded at the same time", whole(1), 64)
    .option("--max-queue <count>", "requests that may wait; more get 429", whole(0), 256)
    .option("--quiet", "do not print a line per request")
    .action(async (model: string, options: ServeCommandOptions) => {
      const { runServe } = await import("../serve/run-serve.js");
      await guarded({ afterwards: "the server has ended" }, () => runServe(model, options));
    });
}
