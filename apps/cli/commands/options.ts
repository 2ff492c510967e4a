import { list } from "../terminal/values.js";
import type { Command } from "commander";

/** The files and presets of a configuration. */
export const configFiles = (command: Command): Command =>
  command
    .option("--config <file>", "a YAML file with verl's keys; may be repeated", list, [])
    .option("--preset <name>", "grpo, arpo, aepo, tiny, 7b, …; may be repeated", list, []);

/** Options of everything that reads a configuration. */
export const configured = (command: Command): Command =>
  configFiles(command.argument("[overrides...]", "key=value, ++key=value or ~key, as in verl"));

/** A configuration whose files may stand among the overrides. */
export const filesOrOverrides = (command: Command): Command =>
  configFiles(
    command.argument(
      "[config-and-overrides...]",
      "a YAML file with verl's keys, then key=value overrides",
    ),
  );

/** The model that judges answers. */
export const judged = (command: Command, judge: string): Command =>
  command
    .option("--judge <url>", judge, list)
    .option("--judge-model <name>", "the judge's model name", "Qwen2.5-72B-Instruct")
    .option("--judge-key-env <name>", "environment variable with the judge's key");
