import { Command } from "commander";
import type { CaptureCommandOptions } from "../capture/run-capture.js";
import { guarded } from "../guarded.js";
import { whole } from "../whole-number.js";

/** `arpo-lab capture MODEL -- PROGRAM…`: runs of an agent program as rows of a tree. */
export function captureCommand(): Command {
  return new Command("capture")
    .description("turn runs of an agent program into rollouts: what it asks a model is captured")
    .argument("<model>", "a Hugging Face folder, such as data/models/tiny, or a .gguf file")
    .argument("[program...]", "behind --, the program and its arguments; without it, until Ctrl-C")
    .option("--out <file>", "where the trees go: .jsonl or .parquet", "trees.jsonl")
    .option("--runs <count>", "runs of the program", whole(1), 1)
    .option("--at-once <count>", "runs under way at the same time", whole(1), 4)
    .option("--task <json>", "what the program is to do, given to it in ARPO_LAB_TASK")
    .option(
      "--reward <file>",
      "a reward function, or a built-in name; without it, the program posts one",
    )
    .option(
      "--temperature <number>",
      "sampling temperature; without it, what the program asks",
      Number,
    )
    .option("--timeout <seconds>", "how long one run may take", whole(1, 2_000_000), 600)
    .option("--max-calls <count>", "calls that a run may make", whole(1), 256)
    .option("--seed <number>", "what the sampling comes from", whole(0), 0)
    .option("--port <number>", "the port to listen on", whole(0, 65535), 0)
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--admin-key-env <name>", "the environment variable with the key for /sessions")
    .option("--quiet", "do not print a line per request")
    .action(async (model: string, program: string[], options: CaptureCommandOptions) => {
      const { runCapture } = await import("../capture/run-capture.js");
      await guarded({ afterwards: "the server has ended" }, () =>
        runCapture(model, program, options),
      );
    });
}
