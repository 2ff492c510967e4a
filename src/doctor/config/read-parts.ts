import { needsOf } from "../../learn/estimators/registry.js";
import { stat } from "node:fs/promises";
import type { Task } from "../../tasks/task.js";
import { world } from "../../tasks/tasks/world.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import { howToHave, modelFolder } from "../../model/files/model-folder.js";
import { weightShapes } from "../../model/transformer/weights.js";
import { checkWeights, readModelFacts } from "../../model/files/open-model.js";
import { loadReward } from "../../reward/load-reward.js";
import type { Config } from "../../run/config/schema.js";
import { taskTools } from "../../tasks/task-tools.js";
import { fitTasks, tasksOf } from "../../run/trainer/tasks-of.js";
import { rolloutOptions, validationOptions } from "../../run/trainer/options.js";
import { refuseTaken } from "../../run/folder/lock-folder.js";
import { refuseAdapters } from "../../run/trainer/refuse-adapters.js";
import { rolloutConfig } from "../../rollout/config.js";
import { loadTools } from "../../tools/load-tools.js";
import { type Check, findings } from "../check.js";
import type { ConfigContext } from "./context.js";

const about = findings("parts");
const lengths = findings("lengths");

type Parts = Omit<ConfigContext, "config" | "kept" | "memory" | "speed">;

/** Takes a part, or says why it cannot be had. */
async function attempt<T>(
  checks: Check[],
  id: string,
  read: () => Promise<T> | T,
  fix?: string,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    checks.push(about.error(id, (error as Error).message, fix));
    return undefined;
  }
}

/** Leaves out or refuses prompts that are too long, by the run's own function. */
function fit(parts: Parts, config: Config, checks: Check[]): void {
  if (!parts.tokenizer) return;
  const most = config.data.max_prompt_length;
  for (const part of ["train", "validation"] as const) {
    const given = parts[part];
    if (!given) continue;
    try {
      const { tasks, dropped } = fitTasks(given, parts.tokenizer, config);
      parts[part] = tasks;
      if (dropped === 0) continue;
      const found = `${dropped} of ${given.length} ${part} prompts have more than ${most} tokens: they are left out`;
      checks.push(lengths.note("prompts-left-out", found));
    } catch (error) {
      const id = config.data.filter_overlong_prompts ? "all-prompts-left-out" : "prompts-too-long";
      const fix = "a larger data.max_prompt_length, or shorter prompts";
      checks.push(lengths.error(id, (error as Error).message, fix));
      return;
    }
  }
}

/** Reads what a run would be put together from, but for the weights. */
export async function readParts(config: Config): Promise<{ parts: Parts; checks: Check[] }> {
  const checks: Check[] = [];
  const { model: how, rollout } = config.actor_rollout_ref;
  const folder = modelFolder(how.path);
  const exists = await stat(folder).catch(() => undefined);
  const parts: Parts = {};
  if (!exists) {
    const fix = `give a .gguf file, or a Hugging Face folder: config.json, safetensors, tokenizer.json; ${howToHave(folder)}`;
    const found = `actor_rollout_ref.model.path: there is no ${folder}`;
    checks.push(about.error("no-model", found, fix));
  } else {
    parts.model = await attempt(
      checks,
      "model-unreadable",
      async () => (await readModelFacts(folder)).config,
    );
    if (parts.model) {
      const whole = "bring the folder here again: every safetensors file, whole";
      await attempt(checks, "weights-unreadable", () => checkWeights(folder), whole);
    }
    const tokenizer = config.data.tokenizer === null ? folder : modelFolder(config.data.tokenizer);
    parts.tokenizer = await attempt(checks, "tokenizer-unreadable", () =>
      HfTokenizer.load(tokenizer),
    );
  }
  if (parts.model) {
    const lora = "actor_rollout_ref.model.lora_rank=16, target_modules=all-linear";
    await attempt(checks, "adapters", () => refuseAdapters(config, parts.model!), lora);
    parts.parameters = [...weightShapes(parts.model).values()].reduce(
      (sum, shape) => sum + shape.reduce((a, b) => a * b, 1),
      0,
    );
    const { tokenizer, model, parameters } = parts;
    const size = `${(parameters / 1e6).toPrecision(3)} M weights`;
    checks.push(about.ok("model", `${how.path}: ${model.family}, ${size}`));
    if (tokenizer && tokenizer.vocabSize > model.vocabSize) {
      const found = `the tokenizer knows ${tokenizer.vocabSize} tokens, and the model ${model.vocabSize}`;
      const fix = "use the tokenizer that came with the model";
      checks.push(about.error("vocabulary-mismatch", found, fix));
    }
  }
  if (parts.tokenizer) {
    const usable = await attempt(checks, "no-chat-template", () =>
      parts.tokenizer!.chat([{ role: "user", content: "?" }], { addGenerationPrompt: true }),
    );
    if (usable === undefined) delete parts.tokenizer; // no prompt can be made with it
  }
  if (needsOf(config.algorithm.adv_estimator) === "values") {
    const critic = modelFolder(config.critic.model.path);
    await attempt(
      checks,
      "no-critic",
      () => checkWeights(critic, "value"),
      "critic.model.path: a Hugging Face folder or a .gguf file; unset it is the policy's",
    );
  }
  await attempt(
    checks,
    "run-folder-taken",
    () => refuseTaken(config.trainer.default_local_dir),
    "another trainer.default_local_dir, or --out",
  );
  // What a run's first step would refuse.
  await attempt(checks, "rollout-options", () => {
    rolloutConfig(rolloutOptions(config));
    rolloutConfig(validationOptions(config));
  });
  const fix = "files, or tasks:calc, tasks:lookup, tasks:mixed";
  const tasks = (id: string, part: "train" | "test"): Promise<Task[] | undefined> =>
    attempt(
      checks,
      id,
      () =>
        tasksOf(part === "train" ? config.data.train_files : config.data.val_files, part, config),
      fix,
    );
  parts.train = await tasks("no-training-data", "train");
  // What names the same files failed already, and is told once.
  const same = String(config.data.train_files) === String(config.data.val_files);
  if (parts.train || !same) parts.validation = await tasks("no-validation-data", "test");
  fit(parts, config, checks);
  const { path, name } = config.custom_reward_function;
  parts.reward = await attempt(checks, "no-reward", () => loadReward(path, name));
  if (rollout.mode === "sync") parts.tags = [];
  else if (Object.keys(rollout.tools.tool_instances).length === 0) {
    await using tools = taskTools(world);
    parts.tags = tools.tags;
  } else {
    const failed: Error[] = [];
    const tools = await attempt(checks, "tools-unreadable", () =>
      loadTools(
        { ...rollout.tools, fail_on_error: false },
        { onError: (error) => void failed.push(error) },
      ),
    );
    for (const error of failed) {
      const { message } = error;
      checks.push(
        rollout.tools.fail_on_error
          ? about.error("tool-does-not-load", message)
          : about.warning("tool-does-not-load", `${message}; the run goes on without it`),
      );
    }
    parts.tags = tools?.tags;
    await tools?.dispose();
  }
  return { parts, checks };
}
