import { needsOf } from "../../learn/estimators/registry.js";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import { HfTokenizer } from "../../model/tokenizer/hf-tokenizer.js";
import type { Tokenizer } from "../../model/tokenizer/tokenizer.js";
import { addLora } from "../../model/lora/add-lora.js";
import { fetchWeights } from "../../model/decoder/of-model.js";
import { setWeightPrecision } from "../../model/precision/set-weight-precision.js";
import { loadModel } from "../../model/load/load-model.js";
import type { Model } from "../../model/transformer/transformer.js";
import { modelFolder, modelName } from "../../model/files/model-folder.js";
import { Policy } from "../../policy/policies.js";
import { loadReward } from "../../reward/load-reward.js";
import { ready } from "../../tensor/backends.js";
import { inMatmulPrecision } from "../../tensor/matmul-precision.js";
import { ToolSet } from "../../tools/tool-set.js";
import { loadTools } from "../../tools/load-tools.js";
import type { Config } from "../config/schema.js";
import { taskTools } from "../../tasks/task-tools.js";
import { environmentOf } from "./environment-of.js";
import { fitTasks, pagesIn, tasksOf } from "./tasks-of.js";
import { referenceOf } from "./reference-of.js";
import { refuseAdapters } from "./refuse-adapters.js";
import type { LocalParts } from "./trainer.js";

type Note = (message: string) => void;

async function toolsOf(config: Config, acts: boolean, note: Note): Promise<ToolSet> {
  const { tools, mode } = config.actor_rollout_ref.rollout;
  if (mode === "sync") return new ToolSet();
  const limits = {
    callLimit: tools.call_limit,
    maxWorkers: tools.max_workers,
    timeoutMs: tools.timeout * 1000,
    retryCount: tools.retry_count,
  };
  // Without tools of its own a configuration gets those of the task generators; an environment has its own.
  if (Object.keys(tools.tool_instances).length === 0) {
    return acts ? new ToolSet([], limits) : taskTools({ pages: pagesIn(config) }, limits);
  }
  return loadTools(tools, {
    onError: (error) => note(`going on without a tool: ${error.message}`),
  });
}

async function tasksFor(part: "train" | "test", config: Config, tokenizer: Tokenizer, note: Note) {
  const source = part === "train" ? config.data.train_files : config.data.val_files;
  const { tasks, dropped } = fitTasks(await tasksOf(source, part, config), tokenizer, config);
  if (dropped > 0) {
    note(
      `${dropped} ${part} tasks left out: their prompts have more than ${config.data.max_prompt_length} tokens`,
    );
  }
  return tasks;
}

async function loadCritic(config: Config): Promise<Model> {
  const critic = await loadModel(modelFolder(config.critic.model.path), { head: "value" });
  critic.matmulPrecision = config.lab.matmul_precision;
  return critic;
}

/** The teacher that a configuration names. */
async function teacherOf({ distillation, lab }: Config): Promise<Pick<LocalParts, "told">> {
  const { model_path: path } = distillation.teacher_model;
  if (path === null) return {};
  const teacher = await loadModel(modelFolder(path));
  teacher.matmulPrecision = lab.matmul_precision;
  return { told: { update: { teacher } } };
}

/**
 * Everything a trainer is put together from, as a configuration says: policy, tools, reward, tasks, and
 * adapters, a reference policy and a critic where they are asked for. `note` is told what was left out.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { assemble } from "arpo-lab/experimental/learn";
 * import { loadConfig } from "arpo-lab/run";
 *
 * const { config } = await loadConfig({
 *   preset: ["arpo", "tiny"],
 *   overrides: ["data.train_files=tasks:calc?train=4", "data.val_files=tasks:calc?test=2"],
 * });
 * const { policy, tools, train, validation } = await assemble(config);
 * assert.deepEqual(tools.tags, ["python", "search"]);
 * assert.deepEqual([train.length, validation.length], [4, 2]);
 * policy.model.dispose();
 * await tools.dispose();
 * ```
 */
export async function assemble(config: Config, note: Note = () => undefined): Promise<LocalParts> {
  checkArguments(
    "train",
    { config },
    { config: { actor_rollout_ref: "object", data: "object", trainer: "object" } },
  );
  const { model, rollout } = config.actor_rollout_ref;
  const folder = modelFolder(model.path);
  await ready();
  const tokenizer = await HfTokenizer.load(
    config.data.tokenizer === null ? folder : modelFolder(config.data.tokenizer),
  );
  // What can be wrong is looked at before a model is read.
  const environment = await environmentOf(config);
  const { path, name } = config.custom_reward_function;
  const reward = await loadReward(path === null && environment ? "environment" : path, name);
  const train = await tasksFor("train", config, tokenizer, note);
  const validation = await tasksFor("test", config, tokenizer, note);
  const loaded = await loadModel(folder);
  refuseAdapters(config, loaded.config);
  if (model.lora_rank > 0) {
    addLora(loaded, {
      rank: model.lora_rank,
      alpha: model.lora_alpha,
      targetModules: model.target_modules,
      seed: config.lab.seed,
    });
  }
  await setWeightPrecision(loaded, config.lab.weights);
  loaded.matmulPrecision = config.lab.matmul_precision;
  inMatmulPrecision(loaded.matmulPrecision, () => undefined); // which says where that cannot be
  await fetchWeights(loaded, config.lab.sampler);
  const policy = Policy.fromModel(loaded, tokenizer, {
    name: modelName(folder),
    dtype: config.lab.sampler,
    cache: config.lab.cache,
    ...(rollout.max_model_len === null ? {} : { contextLength: rollout.max_model_len }),
  });
  return {
    config,
    policy,
    tools: await toolsOf(config, environment !== undefined, note),
    ...defined({ environment }),
    reward,
    train,
    validation,
    ...referenceOf(config, loaded),
    ...(await teacherOf(config)),
    ...(needsOf(config.algorithm.adv_estimator) === "values"
      ? { critic: await loadCritic(config) }
      : {}),
  };
}
