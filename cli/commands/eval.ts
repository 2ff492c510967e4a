import { Command, InvalidArgumentError, Option } from "commander";
import { homePath } from "../../src/files/home-path.js";
import { guarded } from "../guarded.js";
import type { EvalCommandOptions } from "../eval/eval-model.js";

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
    .description("evaluate a model on benchmarks; run again after a stop, it goes on")
    .argument(
      "<model>",
      "a Hugging Face folder or a .gguf file; with --endpoint, the one with its tokenizer",
    )
    .argument("[benchmarks...]", "names; without one, every generated look-alike that ships")
    .option(
      "--out <folder>",
      "results and report; what is finished there is not made again",
      homePath,
      "evaluation",
    )
    .option("--data <folder>", "holds NAME/test.jsonl of the real benchmarks", homePath)
    .option("--own <file>", "a YAML or JSON list of benchmarks of your own", homePath)
    .option("--samples <count>", "answers per question", whole, 1)
    .option("--questions <count>", "only the first questions of each benchmark", whole)
    .option("--seed <number>", "same seed, same samples", whole, 0)
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
    .option("--repetition-penalty <number>", "default 1.1; look-alikes 1", number)
    .option("--max-tokens <count>", "tokens per generation, default 4096", whole)
    .option("--limit <tag=count>", "calls of a tool per sample; may be repeated", limit, {})
    .option("--sample-timeout <seconds>", "default 1500", number)
    .option("--concurrency <count>", "samples at the same time, default 50", whole)
    .option("--as-reference", "what the reference's client really sends")
    .option(
      "--tools <file>",
      "a YAML file with the tools part of a rollout's configuration",
      homePath,
    )
    .option(
      "--environment <tasks>",
      "act in an environment instead: maze, shop, maze?size=4; its calls by --limit calls=COUNT",
    )
    .option("--endpoint <url>", "a server that speaks OpenAI's API; may be repeated", list)
    .option("--endpoint-model <name>", "the model's name there")
    .addOption(
      new Option("--dialect <name>", "what kind of server it is")
        .choices(["vllm", "sglang", "llama.cpp", "transformers", "openai", "arpo-lab"])
        .default("vllm"),
    )
    .option("--api-key-env <name>", "the environment variable with the endpoint's key")
    .option(
      "--judge <url>",
      "a server whose model says whether answers are right; may be repeated",
      list,
    )
    .option("--judge-model <name>", "the model's name there", "Qwen2.5-72B-Instruct")
    .option("--judge-key-env <name>", "the environment variable with the judge's key")
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
