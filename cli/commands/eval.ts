import { homePath } from "../../src/files/home-path.js";
import type { EvalCommandOptions } from "../eval/eval-model.js";
import type { ScoreCommandOptions } from "../eval/score-outputs.js";
import { guarded } from "../terminal/guarded.js";
import { Command, InvalidArgumentError, Option } from "commander";

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new InvalidArgumentError("It must be a whole number, 0 or more.");
  }
  return value;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) {
    throw new InvalidArgumentError("It must be a number.");
  }
  return value;
}

function limit(text: string, before: Record<string, number>): Record<string, number> {
  const [tag, count] = text.split("=");
  if (!tag || count === undefined) throw new InvalidArgumentError("It must read TAG=COUNT.");
  return { ...before, [tag]: whole(count) };
}

const list = (text: string, before: string[] = []) => [...before, text];

/** `arpo-lab eval MODEL [BENCHMARK...]`: samples, metrics, a report. */
export function evalCommand(): Command {
  return new Command("eval")
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
    .option("--samples <count>", "answers per question", whole, 1)
    .option("--questions <count>", "evaluate only the first questions of each benchmark", whole)
    .option("--seed <number>", "seed of the samples", whole, 0)
    .option(
      "--prompt <type>",
      "code_search, search, math, base, code_search_cn, structured, react, none",
    )
    .option(
      "--mode <mode>",
      "completion (over-limit calls get a message) or default (one last generation)",
    )
    .option("--temperature <number>", "default 0.6", number)
    .option("--top-p <number>", "default 0.95", number)
    .option("--top-k <number>", "default 20; -1 for all", number)
    .option("--min-p <number>", "default 0", number)
    .option("--repetition-penalty <number>", "default 1.1; 1 for synthetic benchmarks", number)
    .option("--max-tokens <count>", "tokens per generation, default 4096", whole)
    .option("--limit <tag=count>", "most calls of a tool per sample; may be repeated", limit, {})
    .option("--sample-timeout <seconds>", "default 1500", number)
    .option("--concurrency <count>", "samples generated at the same time, default 50", whole)
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
    .option(
      "--judge <url>",
      "OpenAI-compatible server of the model that judges answers; may be repeated",
      list,
    )
    .option("--judge-model <name>", "the judge's model name", "Qwen2.5-72B-Instruct")
    .option("--judge-key-env <name>", "environment variable with the judge's key")
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
}

/** `arpo-lab score FOLDER`: evaluates answers that are there already. */
export function scoreCommand(): Command {
  return new Command("score")
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
    .option("--judge <url>", "a server whose model says whether answers are right", list)
    .option("--judge-model <name>", "the judge's model name", "Qwen2.5-72B-Instruct")
    .option("--judge-key-env <name>", "environment variable with the judge's key")
    .action(async (folder: string, options: ScoreCommandOptions) =>
      (await import("../eval/score-outputs.js")).scoreOutputs(folder, options),
    );
}
