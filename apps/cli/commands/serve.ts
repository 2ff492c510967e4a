import type { CaptureCommandOptions } from "../serve/run-capture.js";
import { guarded } from "../terminal/guarded.js";
import type { ServeCommandOptions } from "../serve/run-serve.js";
import { port, whole } from "../terminal/values.js";
import { Command } from "commander";

/** `arpo-lab serve MODEL`: a policy behind an OpenAI-compatible endpoint. */
export function serveCommand(): Command {
  return new Command("serve")
    .description("serve a model as an OpenAI-compatible endpoint")
    .argument("<model>", "a Hugging Face folder, such as data/models/tiny, or a .gguf file")
    .option("--port <number>", "port to listen on", port, 8000)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--api-key-env <name>", "environment variable with the key that clients must send")
    .option("--name <text>", "the model's name in requests; default: the folder's name")
    .option("--context <tokens>", "longest sequence; default: the model's limit", whole(1))
    .option(
      "--dtype <type>",
      "data type of the weights: float32, bfloat16, int8, q4, w8a8, w4a8 or w16a16 (docs/models.md)",
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

/** `arpo-lab capture MODEL -- PROGRAM…`: runs of an agent program as trajectories of a tree. */
export function captureCommand(): Command {
  return new Command("capture")
    .description("record the model calls of an agent program as rollouts")
    .argument("<model>", "a Hugging Face folder, such as data/models/tiny, or a .gguf file")
    .argument(
      "[program...]",
      "after --: the program and its arguments; default: serve until Ctrl-C",
    )
    .option("--out <file>", "file to write: .jsonl or .parquet", "trees.jsonl")
    .option("--runs <count>", "number of runs of the program", whole(1), 1)
    .option("--at-once <count>", "most runs at the same time", whole(1), 4)
    .option("--task <json>", "task for the program, passed in ARPO_LAB_TASK")
    .option(
      "--reward <file>",
      "reward function file or built-in name; default: the program posts the reward",
    )
    .option(
      "--temperature <number>",
      "sampling temperature; default: what the program asks for",
      Number,
    )
    .option("--timeout <seconds>", "longest time of one run", whole(1, 2_000_000), 600)
    .option("--max-calls <count>", "most calls of one run", whole(1), 256)
    .option("--seed <number>", "seed of the sampling", whole(0), 0)
    .option("--port <number>", "port to listen on", port, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--admin-key-env <name>", "environment variable with the key for /sessions")
    .option("--quiet", "do not print requests")
    .action(async (model: string, program: string[], options: CaptureCommandOptions) => {
      const { runCapture } = await import("../serve/run-capture.js");
      await guarded({ afterwards: "the server has ended" }, () =>
        runCapture(model, program, options),
      );
    });
}
