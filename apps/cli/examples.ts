import { type Command, Help, type Option } from "commander";

/** What each command's help and docs/cli.md show, by the command's words. */
export const examples: Record<string, string[]> = {
  "kernel install": ["arpo-lab kernel install", "arpo-lab kernel install --sys-prefix"],
  "kernel remove": ["arpo-lab kernel remove"],
  "kernel list": ["arpo-lab kernel list"],
  init: ["arpo-lab init my-task", "arpo-lab init"],
  run: [
    "arpo-lab run notebooks/00-tour.ipynb --out tour.ipynb --html",
    "arpo-lab run study.ipynb --param seed=3 --param 'model=\"data/models/tiny\"'",
    "arpo-lab run loop.ts -- --steps 10",
  ],
  lab: ["arpo-lab lab", "arpo-lab lab --dir notebooks --port 8888 --no-browser"],
  mcp: ["arpo-lab mcp", "arpo-lab mcp --dir notebooks"],
  eval: [
    "arpo-lab eval data/models/tiny --questions 20 --out evaluation",
    "arpo-lab eval models/smollm2.gguf gsm8k --data benchmarks --samples 4",
    "arpo-lab eval data/models/tiny --environment maze --limit calls=16",
  ],
  score: ["arpo-lab score evaluation", "arpo-lab score results --task math --out scored"],
  serve: [
    "arpo-lab serve data/models/tiny",
    "arpo-lab serve models/smollm2.gguf --port 8001 --dtype q4 --cache float16",
  ],
  site: ["arpo-lab site public --lessons", "arpo-lab site public --notebooks study"],
  view: [
    "arpo-lab view runs/arpo",
    "arpo-lab view 'rollouts/*.jsonl' --format trl --out rollouts.html",
  ],
  doctor: [
    "arpo-lab doctor",
    "arpo-lab doctor run.yaml --preset arpo",
    "arpo-lab doctor --cluster http://HEAD:8265 --engine verl",
  ],
  estimate: [
    "arpo-lab estimate --preset arpo --preset tiny",
    "arpo-lab estimate run.yaml --price search=0.002",
  ],
  convert: [
    "arpo-lab convert runs/verl/global_step_40/actor checkpoint",
    "arpo-lab convert checkpoint model.gguf --dtype q8_0",
    "arpo-lab convert checkpoint model.gguf --compare",
  ],
  fetch: ["arpo-lab fetch smollm2", "arpo-lab fetch smollm2 --to models/smollm2.gguf"],
  "env check": ["arpo-lab env check http://127.0.0.1:8000 --call look=north"],
  capture: [
    "arpo-lab capture data/models/tiny --runs 4 --out trees.jsonl -- node agent.mjs",
    "arpo-lab capture data/models/tiny --port 8001",
  ],
  sweep: [
    "arpo-lab sweep places.yaml",
    "arpo-lab sweep places.yaml --seeds 1..10 --processes 2 --out runs/places",
  ],
  train: [
    "arpo-lab train --preset arpo --preset tiny --out runs/arpo",
    "arpo-lab train --config run.yaml trainer.total_training_steps=40",
    "arpo-lab train --preset arpo --preset tiny --seeds 1..5 --out runs/arpo",
  ],
  sft: ["arpo-lab sft sft.yaml", "arpo-lab sft sft.yaml num_train_epochs=1"],
  rollout: ["arpo-lab rollout --preset arpo --preset tiny --tasks 4 --out trees.jsonl"],
  sample: [
    "arpo-lab sample --preset arpo --preset tiny",
    "arpo-lab sample --config run.yaml --model runs/arpo/global_step_40/actor --greedy",
  ],
  subset: ["arpo-lab subset train.parquet small.jsonl --rows 64"],
  compare: [
    "arpo-lab compare runs/arpo runs/grpo",
    "arpo-lab compare arpo=runs/a1,runs/a2 grpo=runs/g1,runs/g2 --out curves.svg",
    "arpo-lab compare arpo=runs/a1,runs/a2 grpo=runs/g1,runs/g2 --at 20000 --margin 0.03",
  ],
  "train-tiny": ["arpo-lab train-tiny models/tiny"],
  submit: [
    "arpo-lab submit --preset arpo --address http://HEAD:8265",
    "arpo-lab submit --config run.yaml --address http://HEAD:8265 --seeds 1..3",
  ],
  "jobs list": ["arpo-lab jobs", "arpo-lab jobs list --kept"],
  "jobs logs": ["arpo-lab jobs logs ID"],
  "jobs attach": ["arpo-lab jobs attach ID --out runs/cluster"],
  "jobs stop": ["arpo-lab jobs stop ID"],
  "jobs retry": ["arpo-lab jobs retry ID"],
  "jobs fetch": ["arpo-lab jobs fetch ID runs/cluster --checkpoints"],
  export: ["arpo-lab export job --preset arpo --tool search=tools:search --reward reward.py"],
  import: ["arpo-lab import train.sh run.yaml", "arpo-lab import job runs/verl"],
  completions: [
    "arpo-lab completions bash >> ~/.bashrc",
    "arpo-lab completions zsh >> ~/.zshrc",
    "arpo-lab completions fish > ~/.config/fish/completions/arpo-lab.fish",
  ],
};

/** A command's words after `arpo-lab`. */
export const wordsOf = (command: Command): string =>
  command.parent ? `${wordsOf(command.parent)} ${command.name()}`.trim() : "";

/** Commands that do something themselves; those that only hold others have no example. */
export const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

/** An option as help shows it: an empty list or object is no default. */
function shown(option: Option): Option {
  const { defaultValue } = option as { defaultValue: unknown };
  const isEmpty =
    typeof defaultValue === "object" &&
    defaultValue !== null &&
    Object.keys(defaultValue).length === 0;
  return isEmpty
    ? (Object.assign(Object.create(option) as Option, { defaultValue: undefined }) as Option)
    : option;
}

/** Gives every command below its examples, and help that shows no empty default. */
export function completeHelp(command: Command): Command {
  command.configureHelp({
    optionDescription: (option) => Help.prototype.optionDescription.call(new Help(), shown(option)),
  });
  const lines = examples[wordsOf(command)];
  if (lines)
    command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`);
  command.commands.forEach(completeHelp);
  return command;
}
