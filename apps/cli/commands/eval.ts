import { homePath } from "../../../src/base/files/home-path.js";
import type { EvalCommandOptions } from "../eval/eval-model.js";
import type { ScoreCommandOptions } from "../eval/score-outputs.js";
import { guarded } from "../terminal/guarded.js";
import { finite, list, pair, whole } from "../terminal/values.js";
import { judged } from "./options.js";
import { Command, Option } from "commander";

const count = whole(0);
const limit = pair("TAG=COUNT", count);

/** `arpo-lab eval MODEL [BENCHMARK...]`: samples, metrics, a report. */
export function evalCommand(): Command {
  const command = new Command("eval")
    .description("evaluate a model on benchmarks; the same command resumes after a stop")
    .argument(
      "<model>",
      "a Hugging Face folder or a .gguf file; with --endpoint, the one with the endpoint's tokenizer",
    )
    .argument(
      "[benchmarks...]",
      "names; default: every synthetic benchmark that the package includes",
    )
    .option(
      "--out <folder>",
      "folder for results and report; finished samples in it are reused",
      homePath,
      "evaluation",
    )
    .option("--data <folder>", "folder with the real benchmarks as NAME/test.jsonl", homePath)
    .option("--own <file>", "a YAML or JSON list of your own benchmarks", homePath)
    .option("--samples <count>", "answers per question", count, 1)
    .option("--questions <count>", "evaluate only the first questions of each benchmark", count)
    .option("--seed <number>", "seed of the samples", count, 0)
    .option(
      "--prompt <type>",
      "code_search, search, math, base, code_search_cn, structured, react, none",
    )
    .option(
      "--mode <mode>",
      "completion (over-limit calls get a message) or default (one last generation)",
    )
    .option("--temperature <number>", "default 0.6", finite)
    .option("--top-p <number>", "default 0.95", finite)
    .option("--top-k <number>", "default 20; -1 for all", finite)
    .option("--min-p <number>", "default 0", finite)
    .option("--repetition-penalty <number>", "default 1.1; 1 for synthetic benchmarks", finite)
    .option("--max-tokens <count>", "tokens per generation, default 4096", count)
    .option("--limit <tag=count>", "most calls of a tool per sample; may be repeated", limit, {})
    .option("--sample-timeout <seconds>", "default 1500", finite)
    .option("--concurrency <count>", "samples generated at the same time, default 50", count)
    .option("--as-reference", "send exactly what the reference's client sends")
    .option(
      "--tools <file>",
      "a YAML file with the tools part of a rollout's configuration",
      homePath,
    )
    .option(
      "--environment <tasks>",
      "evaluate in an environment instead: maze, shop, maze?size=4; limit its calls with --limit calls=COUNT",
    )
    .option("--endpoint <url>", "generate at an OpenAI-compatible server; may be repeated", list)
    .option("--endpoint-model <name>", "the model's name there")
    .addOption(
      new Option("--dialect <name>", "kind of server")
        .choices(["vllm", "sglang", "llama.cpp", "transformers", "openai", "arpo-lab"])
        .default("vllm"),
    )
    .option("--api-key-env <name>", "environment variable with the endpoint's key")
    .action(async (model: string, names: string[], options: EvalCommandOptions) => {
      if (options.environment !== undefined) {
        const { evalInEnvironment } = await import("../eval/eval-environment.js");
        return guarded({ afterwards: "nothing was written" }, () =>
          evalInEnvironment(model, options),
        );
      }
      const { evalModel } = await import("../eval/eval-model.js");
      const afterwards = `finished samples stay in ${options.out}, and the same command goes on from there`;
      return guarded({ afterwards }, () => evalModel(model, names, options));
    });
  return judged(
    command,
    "OpenAI-compatible server of the model that judges answers; may be repeated",
  );
}

/** `arpo-lab score FOLDER`: evaluates answers that are there already. */
export function scoreCommand(): Command {
  const command = new Command("score")
    .description("evaluate saved answers: every NAME_output_TURN.json in a folder")
    .argument("<folder>", "a results folder of arpo-lab or of the reference code")
    .option("--out <folder>", "folder for metrics and report; default: the same folder")
    .addOption(
      new Option("--task <kind>", "how to score benchmarks with unknown names").choices([
        "math",
        "math-numeric",
        "qa",
      ]),
    )
    .action(async (folder: string, options: ScoreCommandOptions) =>
      (await import("../eval/score-outputs.js")).scoreOutputs(folder, options),
    );
  return judged(command, "a server whose model says whether answers are right");
}
